// Lines, cells and faults of CSV files.
#include "runtime/files/csv_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "runtime/literal.h"
#include "support/counted.h"
#include "support/failure.h"
#include "support/limits.h"

namespace relish {
namespace {

constexpr std::size_t max_line_bytes = std::size_t{16} << 20;
constexpr std::size_t max_columns = 1'000'000;
constexpr std::size_t max_reported_rows = 20;

// What ends a line, by the first one: a line feed, with or without a carriage return before it, or a carriage
// return alone, as old programs write it.
char line_end_of(std::string_view text) {
  const std::size_t end = text.find_first_of("\r\n");
  const bool alone = end != text.npos && text[end] == '\r' && end + 1 < text.size() && text[end + 1] != '\n';
  return alone ? '\r' : '\n';
}

// What stands between the cells of a line, by what occurs in it outside of quotes.
char separator_of(std::string_view line) {
  bool quoted = false, comma = false, tab = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ';') return ';';
    comma |= c == ',';
    tab |= c == '\t';
  }
  return comma || !tab ? ',' : '\t';
}

}  // namespace

std::string_view CsvCellReader::trimmed(std::string_view text) const {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<CsvCell> CsvCellReader::next() {
  if (ended_) return std::nullopt;
  std::size_t begin = at_;
  while (begin < line_.size() && is_blank(line_[begin])) ++begin;
  CsvCell cell{{}, begin};
  if (begin < line_.size() && line_[begin] == '"') {
    if (!read_quoted(begin)) {
      ended_ = true;
      return std::nullopt;
    }
    cell.text = unquoted_;
    cell.quoted = true;
  } else {
    std::size_t end = std::min(line_.find(separator_, at_), line_.size());
    cell.text = trimmed(line_.substr(std::min(begin, end), end - std::min(begin, end)));
    at_ = end;
  }
  ended_ = at_ >= line_.size();
  ++at_;  // the separator
  return cell;
}

// Reads a quoted cell, in which "" stands for one quote, up to the separator or line end behind it.
bool CsvCellReader::read_quoted(std::size_t begin) {
  unquoted_.clear();
  at_ = begin + 1;
  while (true) {
    std::size_t quote = line_.find('"', at_);
    if (quote == std::string_view::npos) return fail("a quoted cell has no end on its line", begin);
    unquoted_ += line_.substr(at_, quote - at_);
    at_ = quote + 1;
    if (at_ >= line_.size() || line_[at_] != '"') break;
    unquoted_ += '"';
    ++at_;
  }
  while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
  if (at_ < line_.size() && line_[at_] != separator_) {
    return fail(separator_ == ',' ? "text follows a quoted cell; expected a comma"
                                  : "text follows a quoted cell; expected a separator",
                at_);
  }
  return true;
}

bool CsvCellReader::fail(std::string_view fault, std::size_t offset) {
  fault_ = fault;
  fault_offset_ = offset;
  return false;
}

std::string_view without_plus(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return text;
}

template <class T>
std::optional<T> csv_number(std::string_view text) {
  T value = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || rest != text.data() + text.size()) return std::nullopt;
  if (error == std::errc()) return value;
  // from_chars does not tell which end of the range was passed.
  const std::string copy(text);
  if constexpr (std::is_same_v<T, float>) {
    value = std::strtof(copy.c_str(), nullptr);
  } else {
    value = std::strtod(copy.c_str(), nullptr);
  }
  if (std::isinf(value)) return std::nullopt;
  return value;
}
template std::optional<float> csv_number<float>(std::string_view text);
template std::optional<double> csv_number<double>(std::string_view text);

bool holds_if_integer(DType dtype, std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  // All integers of so few digits are values of the narrowest float.
  if (digits.size() <= 2 ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return true;
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) return holds_integer(dtype, value);
  // Beyond int64: whether the nearest value of the dtype has the same digits.
  std::optional<double> nearest = csv_number<double>(text);
  if (nearest && dtype == DType::Float32) nearest = csv_number<float>(text);
  if (!nearest) return false;
  Tensor held = Tensor::empty(dtype, {});
  held.set_double(0, *nearest);
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  return fmt::format("{:.0f}", std::abs(held.get_double(0))) == digits.substr(first);
}

CsvText::CsvText(const std::string& path, std::optional<char> separator, std::optional<bool> header)
    : path_(path), given_separator_(separator), given_header_(header) {
  DataFile file(path);
  if (file.size() > memory_limit()) {
    fail_at(ErrorClass::ResourceLimit, path, "memory.limit",
            fmt::format("the file has {} bytes; {} are allowed; --memory-limit raises the limit", file.size(),
                        memory_limit()));
  }
  read_text(file);
  check_characters();
  if (text_.starts_with("\xEF\xBB\xBF")) begin_ = 3;
}

// Names and words are strs, and those are UTF-8.
void CsvText::check_characters() const {
  const std::size_t good = utf8_prefix(text_);
  if (good == text_.size()) return;
  const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(good), line_end_);
  data_failure(path_, "csv.text",
               fmt::format("line {}: the bytes are no UTF-8; save the file as UTF-8", lines + 1), good);
}

// Piece by piece, so that a line that is too long ends the reading where it is found.
void CsvText::read_text(const DataFile& file) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  std::size_t line_begin = 0;
  line_number_ = 1;
  while (text_.size() < file.size()) {
    const std::size_t at = text_.size();
    const std::uint64_t bytes = std::min<std::uint64_t>(piece, file.size() - at);
    // A string grows to twice its size at most.
    held_.grow_to(std::min<std::uint64_t>(file.size(), 2 * (at + bytes)), "the text of a file");
    text_.resize(at + static_cast<std::size_t>(bytes));
    file.read_at(at, text_.data() + at, bytes);
    if (at == 0) line_end_ = line_end_of(text_);
    for (std::size_t end = text_.find(line_end_, at); end != std::string::npos;
         end = text_.find(line_end_, end + 1)) {
      line_begin = end + 1;
      ++line_number_;
    }
    if (text_.size() - line_begin <= max_line_bytes + 2) continue;
    line_offset_ = line_begin;
    report("csv.line", 0, fmt::format("more than {} bytes, which is the most that is read", max_line_bytes),
           0);
    throw_reported();
  }
}

void CsvText::read_first_line() {
  for_each_line([&](std::string_view line) {
    bool header = false;
    if (!check_length(line)) throw_reported();
    separator_ = given_separator_ ? *given_separator_ : path_.ends_with(".tsv") ? '\t' : separator_of(line);
    CsvCellReader cells(line, separator_);
    while (std::optional<CsvCell> cell = cells.next()) {
      if (++width_ > max_columns) {
        report("csv.columns", 0, fmt::format("more than {} columns", max_columns), cell->offset);
        throw_reported();
      }
      header = header || (!cell->text.empty() && !csv_number<double>(without_plus(cell->text)));
    }
    if (!check_fault(cells, width_ + 1)) throw_reported();
    if (given_header_.value_or(header)) {
      header_line_ = line_number_;
      CsvCellReader names(line, separator_);
      while (std::optional<CsvCell> cell = names.next()) names_.emplace_back(cell->text);
    }
    return false;
  });
}

bool CsvText::check_length(std::string_view line) {
  if (line.size() <= max_line_bytes) return true;
  report("csv.line", 0, fmt::format("{} bytes; at most {} are read", line.size(), max_line_bytes), 0);
  return false;
}

bool CsvText::check_fault(const CsvCellReader& cells, std::size_t column) {
  if (cells.fault().empty()) return true;
  report("csv.quote", column, std::string(cells.fault()), cells.fault_offset());
  return false;
}

void CsvText::report(std::string_view rule, std::size_t column, std::string message,
                     std::size_t offset_in_line) {
  if (reported_.size() == max_reported_rows) {
    ++more_faults_;
    return;
  }
  Diagnostic diagnostic;
  diagnostic.error_class = ErrorClass::Data;
  diagnostic.place = path_;
  diagnostic.id = rule;
  std::string where = column == 0 ? fmt::format("line {}", line_number_)
                                  : fmt::format("line {}, column {}", line_number_, column);
  diagnostic.message = fmt::format("{}: {} (byte {})", where, message, line_offset_ + offset_in_line);
  reported_.push_back(std::move(diagnostic));
}

void CsvText::throw_reported() {
  if (reported_.empty()) return;
  if (more_faults_ > 0)
    reported_.back().notes.push_back(
        {{}, fmt::format("and {} with faults", counted(more_faults_, "more line"))});
  throw Failure(std::move(reported_));
}

}  // namespace relish

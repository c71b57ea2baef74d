// Lines, cells and faults of CSV files.
#include "runtime/files/csv_text.h"

#include <algorithm>

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

// What stands between the cells of a line, by what occurs in it outside of quotes; 0: nothing of these.
char separator_in(std::string_view line) {
  bool quoted = false, comma = false, tab = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ';') return ';';
    comma |= c == ',';
    tab |= c == '\t';
  }
  return comma ? ',' : tab ? '\t' : '\0';
}

std::size_t count_cells(std::string_view line, char separator) {
  CsvCellReader cells(line, separator);
  std::size_t count = 0;
  while (cells.next()) ++count;
  return count;
}

bool has_number(std::string_view line, char separator) {
  CsvCellReader cells(line, separator);
  while (const std::optional<CsvCell> cell = cells.next())
    if (csv_number<double>(without_plus(cell->text))) return true;
  return false;
}

// Blanks separate cells where two lines have equally many and numbers are among them, as no text has.
bool is_by_blanks(const std::vector<CsvLine>& lines) {
  const std::size_t count = count_cells(lines.front().text, ' ');
  return count > 1 && count_cells(lines.back().text, ' ') == count && has_number(lines.back().text, ' ');
}

char separator_of(const std::vector<CsvLine>& lines) {
  const char found = separator_in(lines.front().text);
  if (found != '\0') return found;
  return is_by_blanks(lines) ? ' ' : ',';
}

// The cells of a comment: without the mark, where text follows it.
std::string_view without_mark(std::string_view comment, char separator) {
  const std::size_t mark = comment.find('#');
  const std::size_t next = comment.find_first_not_of(" \t", mark + 1);
  const bool alone = next == comment.npos || (comment[next] == separator && separator != ' ');
  return alone ? comment : comment.substr(mark + 1);
}

}  // namespace

bool is_missing(const CsvCell& cell, bool is_filled) {
  constexpr std::string_view words[] = {"", "NA", "N/A", "null", "NULL", "None"};
  constexpr std::string_view no_numbers[] = {"NaN", "nan", "NAN"};
  const auto is_among = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), cell.text) != std::end(list);
  };
  return !cell.quoted && (is_among(words) || (is_filled && is_among(no_numbers)));
}

std::string_view CsvCellReader::trimmed(std::string_view text) const {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t CsvCellReader::end_of_cell(std::size_t begin) const {
  const std::size_t end = by_blanks() ? line_.find_first_of(" \t", begin) : line_.find(separator_, at_);
  return std::min(end, line_.size());
}

void CsvCellReader::pass_separator() {
  if (by_blanks()) at_ = std::min(line_.find_first_not_of(" \t", at_), line_.size());
  ended_ = at_ >= line_.size();
  if (!by_blanks()) ++at_;
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
    const std::size_t end = end_of_cell(begin);
    cell.text = trimmed(line_.substr(std::min(begin, end), end - std::min(begin, end)));
    at_ = end;
  }
  pass_separator();
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
  const std::size_t behind = at_;
  while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
  if (at_ < line_.size() && (by_blanks() ? at_ == behind : line_[at_] != separator_)) {
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

CsvText::CsvText(const std::string& path, const CsvForm& form) : path_(path), form_(form) {
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

std::vector<CsvLine> CsvText::first_lines(std::size_t most) {
  std::vector<CsvLine> lines;
  for_each_line([&](std::string_view line) {
    comments_.below = true;
    if (!check_length(line)) throw_reported();
    lines.push_back({line_number_, line});
    return lines.size() < most;
  });
  return lines;
}

void CsvText::read_first_line() {
  const std::vector<CsvLine> lines = first_lines(2);
  if (lines.empty()) return;
  const CsvLine first = lines.front();
  separator_ = form_.separator ? *form_.separator : path_.ends_with(".tsv") ? '\t' : separator_of(lines);
  find_decimal();
  bool has_word = false, has_number = false;
  std::string buffer;
  line_number_ = first.number;
  line_offset_ = static_cast<std::size_t>(first.text.data() - text_.data());
  CsvCellReader cells(first.text, separator_);
  while (std::optional<CsvCell> cell = cells.next()) {
    if (++width_ > max_columns) {
      report("csv.columns", 0, fmt::format("more than {} columns", max_columns), cell->offset);
      throw_reported();
    }
    if (cell->text.empty()) continue;
    (csv_number<double>(number_text(cell->text, decimal_, buffer)) ? has_number : has_word) = true;
  }
  if (!check_fault(cells, width_ + 1)) throw_reported();
  find_header(first, has_word, has_number);
}

// The comma, where cells are numbers by it and by nothing else, and no other number has a point.
void CsvText::find_decimal() {
  if (form_.decimal) decimal_ = *form_.decimal;
  const char needed = separator_ == ',' ? '"' : ',';  // without it no cell holds a comma
  if (form_.decimal || text_.find(needed) == text_.npos) return;
  bool comma = false, point = false;
  for_each_line([&](std::string_view line) {
    CsvCellReader cells(line, separator_);
    while (const std::optional<CsvCell> cell = cells.next()) {
      if (cell->text.find(',') != cell->text.npos) {
        const NumberElsewhere found = number_elsewhere(cell->text);
        comma |= !found.with_comma.empty() && found.grouped.empty();
      } else if (cell->text.find('.') != cell->text.npos) {
        point |= csv_number<double>(without_plus(cell->text)).has_value();
      }
    }
    return !point;
  });
  if (comma && !point) decimal_ = ',';
}

// Names stand in the first row, or in a comment above it that has as many cells. Among blanks that may be by
// chance, so it is asked for.
void CsvText::find_header(const CsvLine& first, bool has_word, bool has_number) {
  CsvLine names;
  const CsvLine& above = comments_.above;
  const bool like_a_row = above.number != 0 && width_ > 1 &&
                          count_cells(without_mark(above.text, separator_), separator_) == width_;
  const bool wanted = form_.header.value_or(true);
  if (like_a_row && has_number && wanted && (separator_ != ' ' || form_.header)) {
    names = {above.number, without_mark(above.text, separator_)};
    if (!form_.header && form_.tell) {
      form_.tell(
          fmt::format("line {} begins with # and has as many cells as the rows: they are the names of "
                      "the columns; header=False passes it over",
                      above.number));
    }
  } else if (form_.header.value_or(has_word)) {
    names = first;
    if (!form_.header && has_number && form_.tell) {
      form_.tell(
          fmt::format("line {} has numbers and words and is read as the names of the columns; header=False "
                      "reads it as a row, header=True says that it is none",
                      first.number));
    }
  } else if (like_a_row && !form_.header && form_.tell) {
    form_.tell(fmt::format(
        "line {} begins with # and is passed over; header=True takes the names of the columns from it",
        above.number));
  }
  if (names.number == 0) return;
  header_line_ = names.number;
  CsvCellReader cells(names.text, separator_);
  while (const std::optional<CsvCell> cell = cells.next()) names_.emplace_back(cell->text);
}

void CsvText::note_comment(std::string_view line) {
  if (!comments_.below) comments_.above = {line_number_, line};
  if (width_ < 2 || line_number_ <= comments_.last_counted || line_number_ <= comments_.above.number) return;
  comments_.last_counted = line_number_;
  if (count_cells(without_mark(line, separator_), separator_) != width_) return;
  if (comments_.like_rows++ == 0) comments_.first_like_row = line_number_;
}

void CsvText::tell_comments() const {
  if (comments_.like_rows == 0 || !form_.tell) return;
  form_.tell(
      fmt::format("{} with as many cells as a row {} with # and {} passed over, the first is line {}; a "
                  "cell that begins with # stands in quotes",
                  counted(comments_.like_rows, "line"), comments_.like_rows == 1 ? "begins" : "begin",
                  comments_.like_rows == 1 ? "is" : "are", comments_.first_like_row));
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

void CsvText::report(std::string_view rule, std::size_t column, CellFault fault, std::size_t offset_in_line) {
  constexpr std::size_t most_lines = 5;
  const auto same = std::find_if(reported_.begin(), reported_.end(), [&](const Reported& each) {
    return column != 0 && each.column == column && each.kind == fault.kind;
  });
  if (same != reported_.end()) {
    if (++same->more <= most_lines) same->more_lines.push_back(line_number_);
    return;
  }
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
  diagnostic.message = fmt::format("{}: {} (byte {})", where, fault.message, line_offset_ + offset_in_line);
  reported_.push_back({std::move(diagnostic), column, std::move(fault.kind)});
}

void CsvText::throw_reported() {
  if (reported_.empty()) return;
  std::vector<Diagnostic> told;
  for (Reported& each : reported_) {
    if (each.more > 0) {
      each.diagnostic.notes.push_back(
          {{},
           fmt::format("the same in {} of this column: line {}{}", counted(each.more, "more cell"),
                       fmt::join(each.more_lines, ", "), each.more > each.more_lines.size() ? ", …" : "")});
    }
    told.push_back(std::move(each.diagnostic));
  }
  if (more_faults_ > 0)
    told.back().notes.push_back({{}, fmt::format("and {} with faults", counted(more_faults_, "more line"))});
  throw Failure(std::move(told));
}

}  // namespace relish

// Reading of CSV tables of numbers. The text is gone through twice: once to count the rows, once to check and
// fill them in, so that the tensor is the only large allocation beside the text. No number is rounded to
// another integer: one that the dtype cannot hold is refused.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "runtime/files.h"
#include "runtime/files/data_file.h"
#include "runtime/literal.h"
#include "support/limits.h"
#include "support/memory.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

constexpr std::size_t max_line_bytes = std::size_t{16} << 20;
constexpr std::size_t max_columns = 1'000'000;
constexpr std::size_t max_reported_rows = 20;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// One cell of a line: its text without quotes and surrounding blanks, valid until the next one is read, and
// where it begins in the line.
struct Cell {
  std::string_view text;
  std::size_t offset = 0;
};

// The cells of a line one after the other, so that a line of commas costs no memory.
class CellReader {
 public:
  explicit CellReader(std::string_view line) : line_(line) {}

  // None behind the last cell and at a fault, which `fault` then tells.
  std::optional<Cell> next() {
    if (ended_) return std::nullopt;
    std::size_t begin = at_;
    while (begin < line_.size() && is_blank(line_[begin])) ++begin;
    Cell cell{{}, begin};
    if (begin < line_.size() && line_[begin] == '"') {
      if (!read_quoted(begin)) {
        ended_ = true;
        return std::nullopt;
      }
      cell.text = unquoted_;
    } else {
      std::size_t end = std::min(line_.find(',', at_), line_.size());
      cell.text = trim(line_.substr(std::min(begin, end), end - std::min(begin, end)));
      at_ = end;
    }
    ended_ = at_ >= line_.size();
    ++at_;  // the comma
    return cell;
  }

  std::string_view fault() const { return fault_; }
  std::size_t fault_offset() const { return fault_offset_; }

 private:
  // Reads a quoted cell, in which "" stands for one quote, up to the comma or line end behind it.
  bool read_quoted(std::size_t begin) {
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
    if (at_ < line_.size() && line_[at_] != ',') {
      return fail("text follows a quoted cell; expected a comma", at_);
    }
    return true;
  }

  bool fail(std::string_view fault, std::size_t offset) {
    fault_ = fault;
    fault_offset_ = offset;
    return false;
  }

  std::string_view line_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::string unquoted_;
  std::string_view fault_;
  std::size_t fault_offset_ = 0;
};

std::string_view without_plus(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return text;
}

// The number nearest to `text` in the precision of T, rounded once; none when it is no number or too large.
// What is too small for T is a subnormal or zero.
template <class T>
std::optional<T> float_of(std::string_view text) {
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

class CsvReader {
 public:
  CsvReader(const std::string& path, DType dtype) : path_(path), dtype_(dtype) {
    DataFile file(path);
    if (file.size() > memory_limit()) {
      fail_at(ErrorClass::ResourceLimit, path, "memory.limit",
              fmt::format("the file has {} bytes; {} are allowed; --memory-limit raises the limit",
                          file.size(), memory_limit()));
    }
    read_text(file);
    if (text_.starts_with("\xEF\xBB\xBF")) begin_ = 3;
  }

  CsvTable read() {
    read_first_line();
    std::uint64_t rows = 0;
    for_each_row([&](std::string_view) { ++rows; });
    // A cell takes a character and a comma or line end. Where the text is shorter than that, some row is bad,
    // and the pass over the rows only looks for it.
    filling_ = width_ == 0 || rows <= (text_.size() + 1) / (2 * width_);
    Shape shape = {filling_ ? static_cast<std::int64_t>(rows) : 0, static_cast<std::int64_t>(width_)};
    table_.values = Tensor::empty(dtype_, shape);
    std::int64_t row = 0;
    for_each_row([&](std::string_view line) { read_row(line, row++ * static_cast<std::int64_t>(width_)); });
    throw_reported();
    RELISH_CHECK(filling_);
    return std::move(table_);
  }

 private:
  // Piece by piece, so that a line that is too long ends the reading where it is found.
  void read_text(const DataFile& file) {
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
      for (std::size_t end = text_.find('\n', at); end != std::string::npos;
           end = text_.find('\n', end + 1)) {
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

  // Calls `visit` with every line that is not blank; false from it ends the walk.
  template <class Visit>
  void for_each_line(Visit visit) {
    line_number_ = 0;
    for (std::size_t at = begin_; at < text_.size();) {
      std::size_t end = text_.find('\n', at);
      if (end == std::string::npos) end = text_.size();
      ++line_number_;
      line_offset_ = at;
      std::string_view line(text_.data() + at, end - at);
      if (line.ends_with('\r')) line.remove_suffix(1);
      at = end + 1;
      if (!trim(line).empty() && !visit(line)) return;
    }
  }

  template <class Visit>
  void for_each_row(Visit visit) {
    for_each_line([&](std::string_view line) {
      if (line_number_ != header_line_) visit(line);
      return true;
    });
  }

  // Finds the width, and the names when a cell of the line is text.
  void read_first_line() {
    for_each_line([&](std::string_view line) {
      bool header = false;
      if (!check_length(line)) throw_reported();
      CellReader cells(line);
      while (std::optional<Cell> cell = cells.next()) {
        if (++width_ > max_columns) {
          report("csv.columns", 0, fmt::format("more than {} columns", max_columns), cell->offset);
          throw_reported();
        }
        header = header || (!cell->text.empty() && !float_of<double>(without_plus(cell->text)));
      }
      if (!check_fault(cells, width_ + 1)) throw_reported();
      if (header) {
        header_line_ = line_number_;
        CellReader names(line);
        while (std::optional<Cell> cell = names.next()) table_.columns.emplace_back(cell->text);
      }
      return false;
    });
  }

  bool check_length(std::string_view line) {
    if (line.size() <= max_line_bytes) return true;
    report("csv.line", 0, fmt::format("{} bytes; at most {} are read", line.size(), max_line_bytes), 0);
    return false;
  }

  bool check_fault(const CellReader& cells, std::size_t column) {
    if (cells.fault().empty()) return true;
    report("csv.quote", column, std::string(cells.fault()), cells.fault_offset());
    return false;
  }

  // Stores the cells of a line from `index` on, or reports the first fault of it.
  void read_row(std::string_view line, std::int64_t index) {
    if (!check_length(line)) return;
    CellReader cells(line);
    std::size_t count = 0;
    std::size_t bad_column = 0;
    std::size_t bad_offset = 0;
    std::string bad_cell;
    while (std::optional<Cell> cell = cells.next()) {
      ++count;
      if (count > width_ || bad_column != 0) continue;
      if (store(without_plus(cell->text), filling_ ? index++ : nowhere)) continue;
      bad_column = count;
      bad_offset = cell->offset;
      bad_cell = refusal(cell->text);
    }
    if (!check_fault(cells, count + 1)) return;
    if (count != width_) {
      report("csv.width", 0, fmt::format("{} columns; expected {} as in the first row", count, width_), 0);
    } else if (bad_column != 0) {
      report("csv.value", bad_column, std::move(bad_cell), bad_offset);
    }
  }

  // Whether the text is no integer, or one that the dtype, a float, has.
  bool holds_if_integer(std::string_view text) const {
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    // All integers of so few digits are values of the narrowest float.
    if (digits.size() <= 2 ||
        !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return true;
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && holds_integer(dtype_, value);
  }

  template <class T>
  bool put(std::optional<T> value, std::int64_t index) {
    if (value && index != nowhere) table_.values.mutable_view<T>()[static_cast<std::size_t>(index)] = *value;
    return value.has_value();
  }

  template <class T>
  bool store_integer(std::string_view text, std::int64_t index) {
    T value{};
    auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool whole = error == std::errc() && rest == text.data() + text.size();
    return put<T>(whole ? std::optional(value) : std::nullopt, index);
  }

  // Each type is read in its own precision; false when the text is no value of it.
  bool store(std::string_view text, std::int64_t index) {
    if (is_float(dtype_) && !holds_if_integer(text)) return false;
    switch (dtype_) {
      case DType::Float32:
        return put(float_of<float>(text), index);
      case DType::Float64:
        return put(float_of<double>(text), index);
      case DType::Int8:
        return store_integer<std::int8_t>(text, index);
      case DType::Int16:
        return store_integer<std::int16_t>(text, index);
      case DType::Int32:
        return store_integer<std::int32_t>(text, index);
      case DType::Int64:
        return store_integer<std::int64_t>(text, index);
      case DType::UInt8:
        return store_integer<std::uint8_t>(text, index);
      case DType::UInt16:
        return store_integer<std::uint16_t>(text, index);
      case DType::UInt32:
        return store_integer<std::uint32_t>(text, index);
      case DType::UInt64:
        return store_integer<std::uint64_t>(text, index);
      case DType::Bool:
        if (text != "0" && text != "1") return false;
        return put<bool>(text == "1", index);
      case DType::Float16:
      case DType::BFloat16: {
        std::optional<double> value = float_of<double>(text);
        if (value && index != nowhere) table_.values.set_double(index, *value);
        return value.has_value();
      }
    }
    return false;
  }

  std::string refusal(std::string_view text) const {
    if (text.empty()) return fmt::format("missing value; expected {}", name_of(dtype_));
    if (is_float(dtype_) && !holds_if_integer(without_plus(text))) {
      return fmt::format(
          "the integer {} is no value of {}; read the file with dtype=\"int64\" or \"float64\"",
          printable(text), name_of(dtype_));
    }
    return fmt::format("'{}' does not read as {}", printable(text), name_of(dtype_));
  }

  // Column 0: the fault is of the whole line. Throws at the last row that is told.
  void report(std::string_view rule, std::size_t column, std::string message, std::size_t offset_in_line) {
    Diagnostic diagnostic;
    diagnostic.error_class = ErrorClass::Data;
    diagnostic.place = path_;
    diagnostic.id = rule;
    std::string where = column == 0 ? fmt::format("line {}", line_number_)
                                    : fmt::format("line {}, column {}", line_number_, column);
    diagnostic.message = fmt::format("{}: {} (byte {})", where, message, line_offset_ + offset_in_line);
    reported_.push_back(std::move(diagnostic));
    if (reported_.size() == max_reported_rows) throw_reported();
  }

  void throw_reported() {
    if (!reported_.empty()) throw Failure(std::move(reported_));
  }

  static constexpr std::int64_t nowhere = -1;

  const std::string& path_;
  DType dtype_;
  HeldMemory held_;
  std::string text_;
  std::size_t begin_ = 0;
  std::size_t line_number_ = 0;
  std::size_t line_offset_ = 0;
  std::size_t header_line_ = 0;
  std::size_t width_ = 0;
  bool filling_ = true;
  CsvTable table_;
  std::vector<Diagnostic> reported_;
};

}  // namespace

CsvTable read_csv(const std::string& path, DType dtype) { return CsvReader(path, dtype).read(); }

std::pair<Tensor, Tensor> split_target(const CsvTable& table, const std::string& target,
                                       const std::string& path) {
  std::optional<std::int64_t> found;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i] != target) continue;
    if (found) data_failure(path, "csv.column", fmt::format("two columns are named '{}'", printable(target)));
    found = static_cast<std::int64_t>(i);
  }
  if (!found) {
    data_failure(path, "csv.column",
                 table.columns.empty() ? "the file has no header, so no column can be named"
                                       : fmt::format("no column '{}'{}", printable(target),
                                                     did_you_mean(target, table.columns)));
  }
  std::int64_t rows = table.values.shape()[0];
  std::int64_t width = table.values.shape()[1];
  Tensor inputs = Tensor::empty(table.values.dtype(), {rows, width - 1});
  Tensor targets = Tensor::empty(table.values.dtype(), {rows});
  visit_dtype(table.values.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* from = static_cast<const T*>(table.values.data());
    T* x = static_cast<T*>(inputs.mutable_data());
    T* y = static_cast<T*>(targets.mutable_data());
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < width; ++column) {
        T value = from[row * width + column];
        if (column == *found) {
          *y++ = value;
        } else {
          *x++ = value;
        }
      }
    }
  });
  return {std::move(inputs), std::move(targets)};
}

}  // namespace relish

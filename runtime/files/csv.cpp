// Reading of CSV tables of numbers. The text is gone through twice: once to count rows and check widths, once
// to fill the tensor, so that the tensor is the only large allocation beside the text.
#include <charconv>
#include <optional>

#include "runtime/files.h"
#include "runtime/files/data_file.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

constexpr std::size_t max_line_bytes = std::size_t{16} << 20;
constexpr std::size_t max_columns = 1'000'000;
constexpr std::size_t max_reported_rows = 20;

// One cell of a line: its text without quotes and surrounding blanks, and where it begins.
struct Cell {
  std::string text;
  std::size_t offset = 0;
};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
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
    text_.resize(static_cast<std::size_t>(file.size()));
    file.read_at(0, text_.data(), file.size());
    if (text_.starts_with("\xEF\xBB\xBF")) begin_ = 3;
  }

  CsvTable read() {
    std::int64_t rows = 0;
    bool first = true;
    for_each_line([&](std::string_view line) {
      std::vector<Cell> cells = split(line);
      if (first) {
        width_ = cells.size();
        first = false;
        if (width_ > max_columns) {
          report(0, fmt::format("{} columns; at most {} are read", width_, max_columns), 0);
          throw_reported();
        }
        if (is_header(cells)) {
          for (Cell& cell : cells) table_.columns.push_back(std::move(cell.text));
          header_line_ = line_number_;
          return;
        }
      }
      if (cells.size() != width_) {
        report(0, fmt::format("{} columns; expected {} as in the first row", cells.size(), width_), 0);
      }
      ++rows;
    });
    throw_reported();
    table_.values = Tensor::empty(dtype_, {rows, static_cast<std::int64_t>(width_)});
    std::int64_t next = 0;
    for_each_line([&](std::string_view line) {
      if (line_number_ == header_line_) return;
      std::vector<Cell> cells = split(line);
      bool bad = false;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!store(cells[i].text, next++) && !bad) {
          bad = true;
          report(i + 1, refusal(cells[i].text), cells[i].offset);
        }
      }
    });
    throw_reported();
    return std::move(table_);
  }

 private:
  // Calls `visit` with every line that is not blank.
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
      if (line.size() > max_line_bytes) {
        report(0, fmt::format("{} bytes; at most {} are read", line.size(), max_line_bytes), 0);
        throw_reported();
      }
      if (!trim(line).empty()) visit(line);
    }
  }

  std::vector<Cell> split(std::string_view line) {
    std::vector<Cell> cells;
    std::size_t at = 0;
    while (true) {
      std::size_t begin = at;
      while (begin < line.size() && is_blank(line[begin])) ++begin;
      Cell cell{{}, begin};
      if (begin < line.size() && line[begin] == '"') {
        at = quoted(line, begin, cell.text, cells.size() + 1);
      } else {
        at = std::min(line.find(',', at), line.size());
        cell.text = trim(line.substr(std::min(begin, at), at - std::min(begin, at)));
      }
      cells.push_back(std::move(cell));
      if (at >= line.size()) return cells;
      ++at;  // the comma
    }
  }

  // Reads a quoted cell; "" inside stands for one quote. The position of the comma or line end behind it.
  std::size_t quoted(std::string_view line, std::size_t begin, std::string& text, std::size_t column) {
    std::size_t at = begin + 1;
    while (true) {
      std::size_t quote = line.find('"', at);
      if (quote == std::string_view::npos) {
        report(column, "a quoted cell has no end on its line", begin);
        throw_reported();
      }
      text += line.substr(at, quote - at);
      at = quote + 1;
      if (at >= line.size() || line[at] != '"') break;
      text += '"';
      ++at;
    }
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at < line.size() && line[at] != ',') {
      report(column, "text follows a quoted cell; expected a comma", at);
      throw_reported();
    }
    return at;
  }

  static std::optional<double> number(std::string_view text) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    double value = 0;
    auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool whole = rest == text.data() + text.size() && !text.empty();
    if (!whole || error == std::errc::invalid_argument) return std::nullopt;
    return value;
  }

  // The first row is a header when a cell of it is text.
  static bool is_header(const std::vector<Cell>& cells) {
    for (const Cell& cell : cells) {
      if (!cell.text.empty() && !number(cell.text)) return true;
    }
    return false;
  }

  template <class T>
  bool store_as(std::string_view text, std::int64_t index) {
    T value{};
    auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || rest != text.data() + text.size()) return false;
    table_.values.mutable_view<T>()[static_cast<std::size_t>(index)] = value;
    return true;
  }

  // Each type is read in its own precision, so that a number is rounded once; false when it does not fit.
  bool store(std::string_view text, std::int64_t index) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    switch (dtype_) {
      case DType::Float32:
        return store_as<float>(text, index);
      case DType::Float64:
        return store_as<double>(text, index);
      case DType::Int8:
        return store_as<std::int8_t>(text, index);
      case DType::Int16:
        return store_as<std::int16_t>(text, index);
      case DType::Int32:
        return store_as<std::int32_t>(text, index);
      case DType::Int64:
        return store_as<std::int64_t>(text, index);
      case DType::UInt8:
        return store_as<std::uint8_t>(text, index);
      case DType::UInt16:
        return store_as<std::uint16_t>(text, index);
      case DType::UInt32:
        return store_as<std::uint32_t>(text, index);
      case DType::UInt64:
        return store_as<std::uint64_t>(text, index);
      case DType::Bool:
        if (text != "0" && text != "1") return false;
        table_.values.set_int(index, text == "1");
        return true;
      case DType::Float16:
      case DType::BFloat16: {
        std::optional<double> value = number(text);
        if (value) table_.values.set_double(index, *value);
        return value.has_value();
      }
    }
    return false;
  }

  std::string refusal(std::string_view text) const {
    if (text.empty()) return fmt::format("missing value; expected {}", name_of(dtype_));
    return fmt::format("'{}' does not read as {}", printable(text), name_of(dtype_));
  }

  // Column 0: the fault is of the whole line.
  void report(std::size_t column, std::string message, std::size_t offset_in_line) {
    Diagnostic diagnostic;
    diagnostic.error_class = ErrorClass::Data;
    diagnostic.place = path_;
    std::string where = column == 0 ? fmt::format("line {}", line_number_)
                                    : fmt::format("line {}, column {}", line_number_, column);
    diagnostic.message = fmt::format("{}: {} (byte {})", where, message, line_offset_ + offset_in_line);
    reported_.push_back(std::move(diagnostic));
    if (reported_.size() == max_reported_rows) throw_reported();
  }

  void throw_reported() {
    if (!reported_.empty()) throw Failure(std::move(reported_));
  }

  const std::string& path_;
  DType dtype_;
  std::string text_;
  std::size_t begin_ = 0;
  std::size_t line_number_ = 0;
  std::size_t line_offset_ = 0;
  std::size_t header_line_ = 0;
  std::size_t width_ = 0;
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
    if (found) data_failure(path, fmt::format("two columns are named '{}'", printable(target)));
    found = static_cast<std::int64_t>(i);
  }
  if (!found) {
    data_failure(path, table.columns.empty() ? "the file has no header, so no column can be named"
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

// The text of a CSV file: its lines, and the cells of a line; faults by line, column and byte. What the cells
// mean is for the readers above it: of a matrix of numbers (csv.cpp) and of named columns (csv_columns.cpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/data_file.h"
#include "support/diagnostic.h"
#include "support/memory.h"

namespace relish {

// One cell of a line: its text without quotes and surrounding blanks, valid until the next one is read, and
// where it begins in the line.
struct CsvCell {
  std::string_view text;
  std::size_t offset = 0;
  bool quoted = false;
};

// The cells of a line one after the other, so that a line of separators costs no memory.
class CsvCellReader {
 public:
  CsvCellReader(std::string_view line, char separator) : line_(line), separator_(separator) {}

  // None behind the last cell and at a fault, which `fault` then tells.
  std::optional<CsvCell> next();

  std::string_view fault() const { return fault_; }
  std::size_t fault_offset() const { return fault_offset_; }

 private:
  bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != separator_; }
  std::string_view trimmed(std::string_view text) const;
  bool read_quoted(std::size_t begin);
  bool fail(std::string_view fault, std::size_t offset);

  std::string_view line_;
  char separator_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::string unquoted_;
  std::string_view fault_;
  std::size_t fault_offset_ = 0;
};

// Without the plus in front of a number.
std::string_view without_plus(std::string_view text);
// The number nearest to `text` in the precision of T (float or double), rounded once; none when it is no
// number or too large. What is too small for T is a subnormal or zero.
template <class T>
std::optional<T> csv_number(std::string_view text);
// Whether the text is no integer, or one that the dtype, a float, has.
bool holds_if_integer(DType dtype, std::string_view text);

class CsvText {
 public:
  // Without a separator the first line tells: a semicolon, a comma or a tab; in a .tsv file it is the tab.
  // `header`: whether that line has the names; without a word it has when a cell of it is no number.
  CsvText(const std::string& path, std::optional<char> separator, std::optional<bool> header = std::nullopt);

  // Finds the width, and the names.
  void read_first_line();
  std::size_t width() const { return width_; }
  bool has_header() const { return header_line_ != 0; }
  const std::vector<std::string>& names() const { return names_; }
  std::size_t bytes() const { return text_.size(); }
  // Of the line that is visited, counted from 1.
  std::size_t line() const { return line_number_; }

  // Calls `visit` with every row, which is no header and not blank.
  template <class Visit>
  void for_each_row(Visit visit) {
    for_each_line([&](std::string_view line) {
      if (line_number_ != header_line_) visit(line);
      return true;
    });
  }
  // Calls `visit(cell, column)` for the cells of a row, the first column being 0; from where it gives a
  // message on, the row is only counted. False when something of it was reported.
  template <class Visit>
  bool read_row(std::string_view line, Visit visit) {
    if (!check_length(line)) return false;
    CsvCellReader cells(line, separator_);
    std::size_t count = 0, bad_column = 0, bad_offset = 0;
    std::string bad_cell;
    while (std::optional<CsvCell> cell = cells.next()) {
      ++count;
      if (count > width_ || bad_column != 0) continue;
      bad_cell = visit(*cell, count - 1);
      if (bad_cell.empty()) continue;
      bad_column = count;
      bad_offset = cell->offset;
    }
    if (!check_fault(cells, count + 1)) return false;
    if (count != width_) {
      report("csv.width", 0, fmt::format("{} columns; expected {} as in the first row", count, width_), 0);
    } else if (bad_column != 0) {
      report("csv.value", bad_column, std::move(bad_cell), bad_offset);
    }
    return count == width_ && bad_column == 0;
  }
  // Column 0: the fault is of the whole line. The first rows are told, the others counted.
  void report(std::string_view rule, std::size_t column, std::string message, std::size_t offset_in_line);
  void throw_reported();

 private:
  void read_text(const DataFile& file);
  void check_characters() const;
  // False from `visit` ends the walk.
  template <class Visit>
  void for_each_line(Visit visit) {
    line_number_ = 0;
    for (std::size_t at = begin_; at < text_.size();) {
      std::size_t end = text_.find(line_end_, at);
      if (end == std::string::npos) end = text_.size();
      ++line_number_;
      line_offset_ = at;
      std::string_view line(text_.data() + at, end - at);
      if (line.ends_with('\r')) line.remove_suffix(1);
      at = end + 1;
      const bool blank = line.find_first_not_of(" \t") == std::string_view::npos;
      if (!blank && !visit(line)) return;
    }
  }
  bool check_length(std::string_view line);
  bool check_fault(const CsvCellReader& cells, std::size_t column);

  const std::string& path_;
  std::optional<char> given_separator_;
  std::optional<bool> given_header_;
  char separator_ = ',';
  HeldMemory held_;
  std::string text_;
  std::size_t begin_ = 0;
  std::size_t line_number_ = 0;
  std::size_t line_offset_ = 0;
  std::size_t header_line_ = 0;
  std::size_t width_ = 0;
  std::vector<std::string> names_;
  char line_end_ = '\n';
  std::vector<Diagnostic> reported_;
  std::size_t more_faults_ = 0;  // beside those
};

}  // namespace relish

// The text of a CSV file: its lines, and the cells of a line; faults by line, column and byte. What the cells
// mean is for the readers above it: of a matrix of numbers (csv.cpp) and of named columns (csv_columns.cpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files.h"
#include "runtime/files/csv_numbers.h"
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

// Cells that say that there is nothing; NaN does where something else is to stand for such cells.
bool is_missing(const CsvCell& cell, bool is_filled);

// The cells of a line one after the other, so that a line of separators costs no memory. Where a blank
// separates them, any number of blanks and tabs do.
class CsvCellReader {
 public:
  CsvCellReader(std::string_view line, char separator) : line_(line), separator_(separator) {}

  // None behind the last cell and at a fault, which `fault` then tells.
  std::optional<CsvCell> next();

  std::string_view fault() const { return fault_; }
  std::size_t fault_offset() const { return fault_offset_; }

 private:
  bool by_blanks() const { return separator_ == ' '; }
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && c != separator_); }
  std::size_t end_of_cell(std::size_t begin) const;
  std::string_view trimmed(std::string_view text) const;
  void pass_separator();
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

// What is wrong with a cell; empty where nothing is. Of faults of one kind in one column the first is told,
// and in which lines the others are. `kind`: the words without those of this cell.
struct CellFault {
  std::string message = {}, kind = {};

  CellFault() = default;
  CellFault(std::string told) : message(std::move(told)), kind(message) {}
  // '<cell>'<what>
  CellFault(std::string_view cell, std::string what)
      : message("'" + std::string(cell) + "'" + what), kind(std::move(what)) {}
  bool empty() const { return message.empty(); }
};

struct CsvLine {
  std::size_t number = 0;  // 0: there is none
  std::string_view text = {};
};

// Lines that begin with #: that above the first row may have the names, and those below may be meant as rows.
struct CsvComments {
  CsvLine above;
  bool below = false;              // the first row was seen
  std::size_t like_rows = 0;       // below it, with as many cells
  std::size_t first_like_row = 0;  // the number of its line
  std::size_t last_counted = 0;
};

class CsvText {
 public:
  CsvText(const std::string& path, const CsvForm& form);

  // Finds what the form does not say, the width, and the names. Without a separator the first line tells: a
  // semicolon, a comma, a tab, or blanks; in a .tsv file it is the tab. Without a decimal sign it is the
  // comma where cells cannot be numbers otherwise. The line has the names when a cell of it is no number; or
  // the comment above it does, where it has as many cells.
  void read_first_line();
  char decimal() const { return decimal_; }
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
    CellFault bad_cell;
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
  void report(std::string_view rule, std::size_t column, CellFault fault, std::size_t offset_in_line);
  void throw_reported();
  // Tells of comments that have the form of rows, when all lines were visited.
  void tell_comments() const;

 private:
  void read_text(const DataFile& file);
  void check_characters() const;
  // The first lines that are no comment.
  std::vector<CsvLine> first_lines(std::size_t most);
  void find_decimal();
  void find_header(const CsvLine& first, bool has_word, bool has_number);
  void note_comment(std::string_view line);
  // False from `visit` ends the walk. Lines that begin with # are comments.
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
      const std::size_t first = line.find_first_not_of(" \t");
      if (first == std::string_view::npos) continue;
      if (line[first] == '#') {
        note_comment(line);
      } else if (!visit(line)) {
        return;
      }
    }
  }
  bool check_length(std::string_view line);
  bool check_fault(const CsvCellReader& cells, std::size_t column);

  const std::string& path_;
  const CsvForm& form_;
  char separator_ = ',';
  char decimal_ = '.';
  HeldMemory held_;
  std::string text_;
  std::size_t begin_ = 0;
  std::size_t line_number_ = 0;
  std::size_t line_offset_ = 0;
  std::size_t header_line_ = 0;
  std::size_t width_ = 0;
  std::vector<std::string> names_;
  CsvComments comments_;
  char line_end_ = '\n';
  struct Reported {
    Diagnostic diagnostic;
    std::size_t column;
    std::string kind;
    std::vector<std::size_t> more_lines = {};  // the first ones with the same fault
    std::size_t more = 0;                      // how many there are
  };
  std::vector<Reported> reported_;
  std::size_t more_faults_ = 0;  // beside those
};

}  // namespace relish

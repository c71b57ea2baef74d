// A small terminal.
#include "tests/golden/terminal_screen.h"

#include <algorithm>
#include <cstdlib>

namespace relish::testing {

TerminalScreen::TerminalScreen(std::size_t columns, std::size_t rows) : columns_(columns), rows_(rows) {
  cells_.assign(rows, std::vector<std::string>(columns, " "));
}

void TerminalScreen::resize(std::size_t columns, std::size_t rows) {
  while (row_ + 1 > rows) {
    cells_.erase(cells_.begin());
    --row_;
  }
  columns_ = columns;
  rows_ = rows;
  cells_.resize(rows);
  for (auto& row : cells_) row.resize(columns, " ");
  column_ = std::min(column_, columns - 1);
  wraps_ = false;
}

void TerminalScreen::line_down() {
  if (row_ + 1 < rows_) {
    ++row_;
    return;
  }
  cells_.erase(cells_.begin());
  cells_.emplace_back(columns_, " ");
}

void TerminalScreen::put(std::string_view character) {
  if (wraps_) {
    line_down();
    column_ = 0;
    wraps_ = false;
  }
  cells_[row_][column_] = std::string(character);
  if (column_ + 1 < columns_) {
    ++column_;
  } else {
    wraps_ = true;
  }
}

void TerminalScreen::escape(std::string_view sequence) {
  const char kind = sequence.back();
  const std::string digits(sequence.substr(0, sequence.size() - 1));
  const auto count = static_cast<std::size_t>(std::max(std::atoi(digits.c_str()), 1));
  const auto clear = [&](std::size_t row, std::size_t from) {
    std::fill(cells_[row].begin() + static_cast<std::ptrdiff_t>(from), cells_[row].end(), " ");
  };
  if (kind != 'm' && kind != 'h' && kind != 'l') wraps_ = false;
  if (kind == 'A') {
    row_ -= std::min(row_, count);
  } else if (kind == 'C') {
    column_ = std::min(column_ + count, columns_ - 1);
  } else if (kind == 'H') {
    row_ = column_ = 0;
  } else if (kind == 'K') {
    clear(row_, column_);
  } else if (kind == 'J') {
    clear(row_, digits == "2" ? 0 : column_);
    for (std::size_t row = digits == "2" ? 0 : row_ + 1; row < rows_; ++row) clear(row, 0);
  } else if (kind != 'm' && kind != 'h' && kind != 'l') {
    unknown_.emplace_back(sequence);
  }
}

void TerminalScreen::write(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (c == '\x1b' && at + 1 < bytes.size() && bytes[at + 1] == '[') {
      std::size_t end = at + 2;
      while (end < bytes.size() &&
             !((bytes[end] >= 'a' && bytes[end] <= 'z') || (bytes[end] >= 'A' && bytes[end] <= 'Z')))
        ++end;
      escape(bytes.substr(at + 2, end + 1 - at - 2));
      at = end;
    } else if (c == '\r') {
      column_ = 0;
      wraps_ = false;
    } else if (c == '\n') {
      line_down();
      wraps_ = false;
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      std::size_t end = at + 1;
      while (end < bytes.size() && (static_cast<unsigned char>(bytes[end]) & 0xC0) == 0x80) ++end;
      put(bytes.substr(at, end - at));
      at = end - 1;
    }
  }
}

std::vector<std::string> TerminalScreen::rows() const {
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < rows_; ++row) {
    std::string line;
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::string& cell = cells_[row][column];
      const bool cursor = row == row_ && column == column_;
      line += !cursor ? cell : cell == " " ? "_" : "[" + cell + "]";
    }
    while (line.ends_with(' ')) line.pop_back();
    lines.push_back(std::move(line));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace relish::testing

// What a terminal shows of the bytes that it is sent: the few signs and escapes that the session uses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace relish::testing {

class TerminalScreen {
 public:
  TerminalScreen(std::size_t columns, std::size_t rows);

  void write(std::string_view bytes);
  // What no longer fits is lost at the right and at the top.
  void resize(std::size_t columns, std::size_t rows);
  // The rows down to the last one that is not empty, without blanks at their ends; the cursor is `_` there
  // where nothing else stands, else `[c]`.
  std::vector<std::string> rows() const;
  // Escapes that it does not know.
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  void put(std::string_view character);
  void escape(std::string_view sequence);
  void line_down();

  std::size_t columns_, rows_;
  std::vector<std::vector<std::string>> cells_;
  std::size_t row_ = 0, column_ = 0;
  bool wraps_ = false;  // the next character goes to the next row
  std::vector<std::string> unknown_;
};

}  // namespace relish::testing

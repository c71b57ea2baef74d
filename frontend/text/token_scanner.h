// Walks over the tokens of a logical line as far as the scanner must know them, which is where they end:
// names, strings, comments, lists of numbers. What is no text of the language is reported. Internal to the
// scanner.
#pragma once

#include <string>
#include <vector>

#include "frontend/text/open_brackets.h"
#include "frontend/text/text_cursor.h"

namespace relish {

class TokenScanner {
 public:
  TokenScanner(TextCursor& cursor, OpenBrackets& brackets) : cursor_(cursor), brackets_(brackets) {}

  // Behind the token where the cursor stands; its bracket is opened or closed. A long list of numbers is
  // noted in the line.
  void scan_token(Line& line);
  // Behind the comment; its text, without "#" and one blank.
  std::string scan_comment();

 private:
  void scan_name();
  void scan_string(std::size_t begin);
  void scan_other();
  std::vector<DiagnosticNote> stray_character(std::size_t begin, std::size_t end);
  bool follows_a_value() const;
  bool scan_number_list(Line& line);

  TextCursor& cursor_;
  OpenBrackets& brackets_;
};

}  // namespace relish

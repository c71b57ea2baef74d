// Cuts a source into logical lines, one after another: continuations, comments, headers, indentation. The
// scanner's inner layer (frontend/text/scanner.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/open_brackets.h"
#include "frontend/text/text_cursor.h"
#include "frontend/text/token_scanner.h"

namespace relish {

struct Indentation {
  std::uint32_t column = 0;     // tabs to multiples of 8
  std::uint32_t alternate = 0;  // tabs as one column: both orders must agree
};

// Lines as they come from the text, before they are hung into blocks.
struct FlatLine {
  Line line;
  Indentation indentation;
  std::vector<std::uint32_t> comment_columns = {};  // of the comment lines above it
  bool inline_suite = false;                        // follows the ':' of a header on the same physical line
};

class TextScanner {
 public:
  TextScanner(std::uint32_t file, std::string_view text, Diagnostics& diagnostics)
      : cursor_(file, text, diagnostics), brackets_(cursor_), tokens_(cursor_, brackets_) {}
  TextScanner(const TextScanner&) = delete;  // its parts hold its cursor

  // The next logical line; nothing at the end, when `comments()` holds what stood behind the last one.
  std::optional<FlatLine> next();
  std::vector<std::string>& comments() { return comments_; }
  std::vector<std::uint32_t>& comment_columns() { return comment_columns_; }
  // What was open when the text ended (for the REPL).
  Missing open_at_end() const { return cursor_.open_at_end; }
  std::uint32_t blank_lines_at_end() const { return blank_lines_; }
  // How many blocks are open around the next line: counts towards the nesting limit.
  void set_block_depth(std::size_t depth) { brackets_.block_depth = depth; }

 private:
  void scan_content(Line& line);
  bool goes_on_behind_line_end();
  void take_comment(Line& line);
  void scan_continuation();
  bool ends_header(char token, bool compound, Line& line);
  bool statement_opens_here(std::size_t column) const;

  TextCursor cursor_;
  OpenBrackets brackets_;
  TokenScanner tokens_;
  std::vector<std::string> comments_;
  std::vector<std::uint32_t> comment_columns_;
  std::size_t content_end_ = 0;  // end of the last token of the current line
  std::uint32_t blank_lines_ = 0;
  // Set while a physical line goes on after ';' or after the ':' of a header.
  bool continues_ = false;
  bool continues_as_suite_ = false;
  Indentation indentation_;
};

}  // namespace relish

// Walks the bytes of a source, one logical line after another: strings, brackets, continuations, comments,
// lists of numbers. The scanner's inner layer (frontend/text/scanner.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/scanner.h"

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

struct OpenBracket {
  char kind;
  std::uint32_t at;
};

class TextScanner {
 public:
  TextScanner(std::uint32_t file, std::string_view text, Diagnostics& diagnostics)
      : file_(file), text_(text), diagnostics_(diagnostics) {}

  // The next logical line; nothing at the end, when `comments()` holds what stood behind the last one.
  std::optional<FlatLine> next();
  std::vector<std::string>& comments() { return comments_; }
  std::vector<std::uint32_t>& comment_columns() { return comment_columns_; }
  // What was open when the text ended (for the REPL).
  Missing open_at_end() const { return open_at_end_; }
  std::uint32_t blank_lines_at_end() const { return blank_lines_; }
  std::size_t block_depth = 0;  // blocks open around the line being scanned: counts towards the nesting limit

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool at_end() const { return at_ >= text_.size(); }
  bool at_line_end() const { return at_end() || peek() == '\n' || (peek() == '\r' && peek(1) == '\n'); }
  void skip_line_end() {
    if (peek() == '\r') ++at_;
    if (!at_end()) ++at_;
  }
  Span span(std::size_t begin, std::size_t end) const {
    return {file_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }
  Diagnostic& error(std::size_t begin, std::size_t end, std::string_view id, std::string message) {
    if (current_) current_->damaged = true;
    return diagnostics_.error(ErrorClass::Syntax, span(begin, end), id, std::move(message));
  }
  void limit_error(std::size_t begin, std::size_t end, std::string_view id, std::string message) {
    if (current_) current_->damaged = true;
    diagnostics_.error(ErrorClass::ResourceLimit, span(begin, end), id, std::move(message));
  }

  void scan_content(Line& line);
  bool goes_on_behind_line_end();
  void take_comment(Line& line);
  void scan_continuation();
  void scan_token(Line& line);
  bool ends_header(char token, bool compound, Line& line);
  void scan_comment();
  void scan_name();
  void scan_string(std::size_t begin);
  void scan_other();
  std::vector<DiagnosticNote> stray_character(std::size_t begin, std::size_t end);
  void open_bracket(char kind);
  void close_bracket(char kind);
  bool scan_number_list(Line& line);
  bool statement_opens_here(std::size_t column) const;
  void report_unclosed(std::string_view why, Span note_at);

  std::uint32_t file_;
  std::string_view text_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  std::vector<OpenBracket> brackets_;
  std::vector<std::string> comments_;
  std::vector<std::uint32_t> comment_columns_;
  Line* current_ = nullptr;
  std::size_t content_end_ = 0;  // end of the last token of the current line
  Missing open_at_end_ = Missing::Nothing;
  std::uint32_t blank_lines_ = 0;
  bool nesting_reported_ = false;
  // Set while a physical line goes on after ';' or after the ':' of a header.
  bool continues_ = false;
  bool continues_as_suite_ = false;
  Indentation indentation_;
};

}  // namespace relish

// A place in the bytes of a source, and reports of what is wrong there. Internal to the scanner.
#pragma once

#include <string>
#include <string_view>

#include "frontend/text/scanner.h"

namespace relish {

struct TextCursor {
  TextCursor(std::uint32_t source, std::string_view whole, Diagnostics& reports)
      : file(source), text(whole), diagnostics(reports) {}

  char peek(std::size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  bool at_end() const { return at >= text.size(); }
  bool at_line_end() const { return at_end() || peek() == '\n' || (peek() == '\r' && peek(1) == '\n'); }
  // A '\\' that a line's end follows.
  bool at_continuation() const {
    return peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'));
  }
  void skip_line_end() {
    if (peek() == '\r') ++at;
    if (!at_end()) ++at;
  }

  Span span(std::size_t begin, std::size_t end) const {
    return {file, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }
  // The line being scanned is not to be parsed.
  void damage() {
    if (line) line->damaged = true;
  }
  Diagnostic& error(std::size_t begin, std::size_t end, std::string_view id, std::string message) {
    damage();
    return diagnostics.error(ErrorClass::Syntax, span(begin, end), id, std::move(message));
  }
  void limit_error(std::size_t begin, std::size_t end, std::string_view id, std::string message) {
    damage();
    diagnostics.error(ErrorClass::ResourceLimit, span(begin, end), id, std::move(message));
  }

  std::uint32_t file;
  std::string_view text;
  Diagnostics& diagnostics;
  std::size_t at = 0;
  Line* line = nullptr;                    // being scanned
  Missing open_at_end = Missing::Nothing;  // what was open when the text ended
};

}  // namespace relish

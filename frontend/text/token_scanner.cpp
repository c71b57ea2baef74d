// Tokens, by their first character.
#include "frontend/text/token_scanner.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/fix.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

bool is_string_prefix(std::string_view word) {
  if (word.empty() || word.size() > 2) return false;
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return std::string_view("rRbBuUfF").find(c) != std::string_view::npos; });
}

// Length of the UTF-8 sequence at `at`, 0 when it is malformed (overlong, surrogate, beyond U+10FFFF, cut
// short).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(at + 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!follows(at + 1) || !follows(at + 2)) return 0;
    if (lead == 0xE0 && byte(at + 1) < 0xA0) return 0;
    if (lead == 0xED && byte(at + 1) > 0x9F) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!follows(at + 1) || !follows(at + 2) || !follows(at + 3)) return 0;
    if (lead == 0xF0 && byte(at + 1) < 0x90) return 0;
    if (lead == 0xF4 && byte(at + 1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

// A comment without the blank that follows "#" and without blanks at its end.
std::string comment_text(std::string_view text) {
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

void TokenScanner::scan_token(Line& line) {
  const char c = cursor_.peek();
  if (is_name_start(c)) {
    scan_name();
  } else if (c == '"' || c == '\'') {
    scan_string(cursor_.at);
  } else if (c == '(' || c == '[' || c == '{') {
    if (!scan_number_list(line)) brackets_.open(c);
  } else if (c == ')' || c == ']' || c == '}') {
    brackets_.close(c);
  } else {
    scan_other();
  }
}

std::string TokenScanner::scan_comment() {
  std::string text;
  ++cursor_.at;
  while (!cursor_.at_line_end()) {
    std::size_t length = utf8_length(cursor_.text, cursor_.at);
    if (length == 0 || cursor_.peek() == '\0') {
      cursor_
          .error(cursor_.at, cursor_.at + 1, length == 0 ? "syntax.utf8" : "syntax.nul",
                 length == 0 ? fmt::format("found the byte 0x{:02X}; expected UTF-8 text",
                                           static_cast<unsigned char>(cursor_.peek()))
                             : std::string("found a NUL byte; expected text"))
          .notes.push_back(remove_this(cursor_.span(cursor_.at, cursor_.at + 1)));
      text += '?';
      ++cursor_.at;
      continue;
    }
    text += cursor_.text.substr(cursor_.at, length);
    cursor_.at += length;
  }
  return comment_text(text);
}

void TokenScanner::scan_name() {
  std::size_t begin = cursor_.at;
  while (is_name_part(cursor_.peek())) ++cursor_.at;
  std::string_view word = cursor_.text.substr(begin, cursor_.at - begin);
  if (word.size() > limits().max_identifier_bytes) {
    cursor_.limit_error(
        begin, cursor_.at, "limit.identifier",
        fmt::format("found a name of {} bytes; expected at most {}, raise --max-identifier-size", word.size(),
                    limits().max_identifier_bytes));
  }
  if ((cursor_.peek() == '"' || cursor_.peek() == '\'') && is_string_prefix(word)) scan_string(begin);
}

void TokenScanner::scan_string(std::size_t begin) {
  char quote = cursor_.peek();
  bool triple = cursor_.peek(1) == quote && cursor_.peek(2) == quote;
  std::size_t opening = cursor_.at;
  cursor_.at += triple ? 3 : 1;
  while (true) {
    if (cursor_.at_end() || (!triple && cursor_.at_line_end())) {
      if (triple) cursor_.open_at_end = Missing::String;
      Diagnostic& diagnostic =
          cursor_.error(opening, opening + (triple ? 3 : 1), "syntax.string",
                        fmt::format("found a string that is never closed; expected {}",
                                    triple ? std::string(3, quote) : std::string(1, quote)));
      if (!triple) {
        // The first string of the line that is a word before code is the open one; else the last, to the end.
        std::size_t word = opening + 1;
        const std::size_t line_begin = cursor_.text.rfind('\n', opening) + 1;  // 0 when there is none
        for (std::size_t open = cursor_.text.find(quote, line_begin); open < cursor_.at;) {
          word = open + 1;
          while (word < cursor_.at && is_name_part(cursor_.text[word])) ++word;
          if (word > open + 1 && word < cursor_.at &&
              std::string_view(",)]}").find(cursor_.text[word]) != std::string_view::npos) {
            opening = open;
            break;
          }
          open = cursor_.text.find(quote, word);
          if (open < cursor_.at) open = cursor_.text.find(quote, open + 1);
        }
        const bool whole = word > opening + 1 &&
                           (word >= cursor_.at ||
                            std::string_view(",)]}").find(cursor_.text[word]) != std::string_view::npos);
        const std::size_t end = whole ? word : cursor_.at;
        diagnostic.notes.push_back(insert_here(cursor_.span(end - 1, end), std::string(1, quote)));
        // What stands behind it is no code, so brackets that it would close are none of its faults.
        brackets_.clear();
        cursor_.damage();
      }
      return;
    }
    char c = cursor_.peek();
    if (c == '\\') {
      ++cursor_.at;
      if (cursor_.at_end()) continue;
      if (cursor_.peek() == '\r' && cursor_.peek(1) == '\n') ++cursor_.at;
      cursor_.at += std::max<std::size_t>(1, utf8_length(cursor_.text, cursor_.at));
      continue;
    }
    if (c == quote && (!triple || (cursor_.peek(1) == quote && cursor_.peek(2) == quote))) {
      cursor_.at += triple ? 3 : 1;
      break;
    }
    if (c == '\0') {
      cursor_.error(cursor_.at, cursor_.at + 1, "syntax.nul", "found a NUL byte; expected text")
          .notes.push_back(remove_this(cursor_.span(cursor_.at, cursor_.at + 1)));
    }
    std::size_t length = utf8_length(cursor_.text, cursor_.at);
    if (length == 0) {
      cursor_.error(
          cursor_.at, cursor_.at + 1, "syntax.utf8",
          fmt::format("found the byte 0x{:02X}; expected UTF-8 text", static_cast<unsigned char>(c)));
      length = 1;
    }
    cursor_.at += length;
  }
  const std::size_t quotes = triple ? 6 : 2,
                    size = cursor_.at - opening - std::min(quotes, cursor_.at - opening);
  if (size > limits().max_string_bytes) {
    cursor_.limit_error(
        begin, opening + 1, "limit.string",
        fmt::format("found a string of {} bytes; expected at most {}, raise --max-string-size", size,
                    limits().max_string_bytes));
  }
}

// What stands between two operands in a bracket was meant as a ','; quotation marks of print were meant as
// those of strings; what has no such place goes.
std::vector<DiagnosticNote> TokenScanner::stray_character(std::size_t begin, std::size_t end) {
  constexpr std::string_view open = "\u201C", close = "\u201D";
  const std::size_t line_end = std::min(cursor_.text.find('\n', end), cursor_.text.size());
  if (cursor_.text.substr(begin, end - begin) == open) {
    const std::size_t closing = cursor_.text.substr(0, line_end).find(close, end);
    if (closing != std::string_view::npos)
      return {write_here(cursor_.span(begin, end), "\""),
              write_here(cursor_.span(closing, closing + close.size()), "\"")};
  }
  if (cursor_.text.substr(begin, end - begin) == close) {
    const std::size_t line_begin = begin == 0 ? 0 : cursor_.text.rfind('\n', begin - 1) + 1;
    if (cursor_.text.substr(line_begin, begin - line_begin).find(open) != std::string_view::npos) return {};
  }
  const std::size_t before =
      begin == 0 ? std::string_view::npos : cursor_.text.find_last_not_of(' ', begin - 1);
  const std::size_t after = cursor_.text.find_first_not_of(' ', end);
  const auto is_one_of = [&](std::size_t at, std::string_view signs) {
    return at < cursor_.text.size() &&
           (is_name_part(cursor_.text[at]) || signs.find(cursor_.text[at]) != std::string_view::npos);
  };
  if (!brackets_.empty() && is_one_of(before, ")]}\"'") && is_one_of(after, "([{\"'"))
    return {write_here(cursor_.span(begin, end), ",")};
  const bool alone = end - begin == 1 || !is_one_of(before, "") || !is_one_of(after, "");
  return alone ? std::vector<DiagnosticNote>{remove_this(cursor_.span(begin, end))}
               : std::vector<DiagnosticNote>{};
}

// Operators, digits and whatever has no place in a text.
void TokenScanner::scan_other() {
  unsigned char c = static_cast<unsigned char>(cursor_.peek());
  if (c == 0) {
    cursor_.error(cursor_.at, cursor_.at + 1, "syntax.nul", "found a NUL byte; expected text")
        .notes.push_back(remove_this(cursor_.span(cursor_.at, cursor_.at + 1)));
    ++cursor_.at;
  } else if (c >= 0x80) {
    std::size_t length = utf8_length(cursor_.text, cursor_.at);
    if (length == 0) {
      cursor_.error(cursor_.at, cursor_.at + 1, "syntax.utf8",
                    fmt::format("found the byte 0x{:02X}; expected UTF-8 text", c));
      ++cursor_.at;
    } else {
      std::size_t begin = cursor_.at;
      while (static_cast<unsigned char>(cursor_.peek()) >= 0x80 && utf8_length(cursor_.text, cursor_.at) > 0)
        cursor_.at += utf8_length(cursor_.text, cursor_.at);
      cursor_
          .error(begin, cursor_.at, "syntax.character",
                 fmt::format("found '{}'; expected names of ASCII letters, digits and '_'",
                             printable(cursor_.text.substr(begin, cursor_.at - begin))))
          .notes = stray_character(begin, cursor_.at);
      while (is_name_part(cursor_.peek())) ++cursor_.at;
    }
  } else if (c == '?' && is_name_start(cursor_.peek(1))) {
    ++cursor_.at;  // a hole: what follows is its name
  } else if (c == '\r') {
    cursor_.damage();  // the whole text is refused for it
    ++cursor_.at;
  } else if (c < 0x20 || c == 0x7F || c == '$' || c == '?' || c == '`') {
    cursor_
        .error(cursor_.at, cursor_.at + 1, "syntax.character",
               fmt::format("found the character '{}', which is not part of the language",
                           printable(cursor_.text.substr(cursor_.at, 1))))
        .notes = stray_character(cursor_.at, cursor_.at + 1);
    ++cursor_.at;
  } else if (is_digit(static_cast<char>(c))) {
    while (is_name_part(cursor_.peek())) ++cursor_.at;
  } else {
    ++cursor_.at;
  }
}

// Whether what stands before the bracket makes it that of a call or of an index: f(1, 2), x[1, 2].
bool TokenScanner::follows_a_value() const {
  std::size_t at = cursor_.at;
  const std::string_view blanks = brackets_.empty() ? " \t" : " \t\r\n";
  while (at > 0 && blanks.find(cursor_.text[at - 1]) != std::string_view::npos) --at;
  if (at == 0) return false;
  const char before = cursor_.text[at - 1];
  if (std::string_view(")]}\"'").find(before) != std::string_view::npos) return true;
  std::size_t begin = at;
  while (begin > 0 && is_name_part(cursor_.text[begin - 1])) --begin;
  constexpr std::string_view words[] = {"in", "return", "and", "or",     "not",
                                        "if", "else",   "is",  "assert", "del"};
  const std::string_view word = cursor_.text.substr(begin, at - begin);
  return !word.empty() && std::find(std::begin(words), std::end(words), word) == std::end(words);
}

// Steps over a list of plain numbers when it is one and long enough; stays otherwise.
bool TokenScanner::scan_number_list(Line& line) {
  char open = cursor_.peek();
  if (open == '{' || follows_a_value()) return false;
  char close = open == '[' ? ']' : ')';
  std::size_t at = cursor_.at + 1;
  std::size_t count = 0;
  auto skip_blanks = [&] {
    while (at < cursor_.text.size() &&
           std::string_view(" \t\r\n").find(cursor_.text[at]) != std::string_view::npos)
      ++at;
  };
  while (true) {
    skip_blanks();
    if (at < cursor_.text.size() && cursor_.text[at] == close && count >= number_list_minimum) break;
    if (at < cursor_.text.size() && (cursor_.text[at] == '-' || cursor_.text[at] == '+')) ++at;
    std::size_t digits = at;
    bool seen_digit = false;
    while (at < cursor_.text.size()) {
      char c = cursor_.text[at];
      if (is_digit(c)) {
        seen_digit = true;
      } else if ((c == '+' || c == '-') && at > digits &&
                 (cursor_.text[at - 1] == 'e' || cursor_.text[at - 1] == 'E')) {
        // an exponent's sign
      } else if (c != '.' && c != 'e' && c != 'E') {
        break;
      }
      ++at;
    }
    if (!seen_digit || !(is_digit(cursor_.text[digits]) || cursor_.text[digits] == '.')) return false;
    ++count;
    skip_blanks();
    if (at >= cursor_.text.size()) return false;
    if (cursor_.text[at] == ',') {
      ++at;
      continue;
    }
    if (cursor_.text[at] == close && count >= number_list_minimum) break;
    return false;
  }
  line.number_lists.push_back({static_cast<std::uint32_t>(cursor_.at), static_cast<std::uint32_t>(at + 1)});
  cursor_.at = at + 1;
  return true;
}

}  // namespace relish

// The walk over the bytes of a logical line.
#include "frontend/text/text_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

std::optional<FlatLine> TextScanner::next() {
  current_ = nullptr;
  while (!continues_) {
    Indentation indentation;
    for (;; ++at_) {
      if (peek() == ' ') {
        ++indentation.column;
        ++indentation.alternate;
      } else if (peek() == '\t') {
        indentation.column = (indentation.column / 8 + 1) * 8;
        ++indentation.alternate;
      } else if (peek() == '\f') {
        indentation = {};
      } else {
        break;
      }
    }
    if (at_end()) return std::nullopt;
    if (at_line_end()) {
      ++blank_lines_;
      skip_line_end();
      continue;
    }
    if (peek() == '#') {
      blank_lines_ = 0;
      scan_comment();
      comment_columns_.push_back(indentation.column);
      if (!at_end()) skip_line_end();
      continue;
    }
    if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      ++at_;
      skip_line_end();
      if (at_end()) open_at_end_ = Missing::Continuation;
      continue;
    }
    indentation_ = indentation;
    break;
  }
  // A suite on a header's own line ends with that line.
  if (!continues_) continues_as_suite_ = false;
  FlatLine result;
  result.inline_suite = continues_as_suite_;
  result.indentation = indentation_;
  result.line.comments = std::move(comments_);
  comments_.clear();
  result.comment_columns = std::exchange(comment_columns_, {});
  continues_ = false;
  blank_lines_ = 0;
  current_ = &result.line;
  scan_content(result.line);
  current_ = nullptr;
  return result;
}

void TextScanner::scan_content(Line& line) {
  std::size_t begin = at_;
  content_end_ = at_;
  brackets_.clear();
  if (peek() == '@') {
    line.first_word = text_.substr(begin, 1);
  } else if (is_name_start(peek())) {
    std::size_t end = begin;
    while (end < text_.size() && is_name_part(text_[end])) ++end;
    line.first_word = text_.substr(begin, end - begin);
  }
  bool compound = opens_block(line.first_word);
  if (line.first_word == "match") compound = false;  // a soft keyword: a plain name here
  while (true) {
    while (peek() == ' ' || peek() == '\t' || peek() == '\f') ++at_;
    if (at_end()) break;
    if (at_line_end()) {
      if (!goes_on_behind_line_end()) break;
    } else if (peek() == '#') {
      take_comment(line);
    } else if (peek() == '\\') {
      scan_continuation();
    } else if (brackets_.empty() && peek() == ';') {
      ++at_;
      while (peek() == ' ' || peek() == '\t') ++at_;
      continues_ = !at_line_end() && peek() != '#';
      if (continues_) break;
    } else {
      const std::size_t token = at_;
      scan_token(line);
      if (ends_header(text_[token], compound, line)) break;
      if (token == at_) ++at_;  // never stand still
    }
  }
  if (!brackets_.empty() && at_end() && !line.damaged) {
    open_at_end_ = Missing::Bracket;
    report_unclosed("the text ends before it is closed", Span{});
  }
  if (compound && !line.header) line.header = true;  // the grammar reports the missing ':'
  line.span = span(begin, content_end_);
}

// At a line's end: whether the logical line goes on behind it. Inside brackets it does, unless a statement
// begins there.
bool TextScanner::goes_on_behind_line_end() {
  skip_line_end();
  if (brackets_.empty()) return false;
  std::size_t line_begin = at_;
  while (peek() == ' ' || peek() == '\t') ++at_;
  if (!statement_opens_here(at_ - line_begin)) return true;
  report_unclosed("a statement begins before it is closed", span(at_, at_ + 1));
  // The next physical line starts here: step back to its beginning.
  while (at_ > 0 && text_[at_ - 1] != '\n') --at_;
  return false;
}

// A comment behind or inside the line.
void TextScanner::take_comment(Line& line) {
  std::size_t mark = comments_.size();
  scan_comment();
  if (brackets_.empty()) {
    line.trailing_comment = std::move(comments_.back());
  } else {
    line.comments.push_back(std::move(comments_.back()));
  }
  comments_.resize(mark);
}

// '\' at a line's end.
void TextScanner::scan_continuation() {
  if (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n')) {
    ++at_;
    skip_line_end();
    if (at_end()) {
      open_at_end_ = Missing::Continuation;
      error(content_end_, content_end_ + 1, "syntax.continuation",
            "found the end of the text after a continuation; expected the rest of the statement");
    }
    return;
  }
  error(at_, at_ + 1, "syntax.character", "found '\\' inside a line; expected it at the line's end only");
  ++at_;
}

void TextScanner::scan_token(Line& line) {
  const char c = peek();
  if (is_name_start(c)) {
    scan_name();
  } else if (c == '"' || c == '\'') {
    scan_string(at_);
  } else if (c == '(' || c == '[' || c == '{') {
    if (!scan_number_list(line)) open_bracket(c);
  } else if (c == ')' || c == ']' || c == '}') {
    close_bracket(c);
  } else {
    scan_other();
  }
  content_end_ = at_;
}

// Behind a token: whether it is the ':' of a header whose suite follows on the same physical line.
bool TextScanner::ends_header(char token, bool compound, Line& line) {
  if (token != ':' || !brackets_.empty() || peek() == '=') return false;
  std::size_t ahead = at_;
  while (ahead < text_.size() && (text_[ahead] == ' ' || text_[ahead] == '\t')) ++ahead;
  const bool last =
      ahead >= text_.size() || text_[ahead] == '\n' || text_[ahead] == '\r' || text_[ahead] == '#';
  if (compound || last) line.header = true;
  if (!compound || last) return false;
  at_ = ahead;
  continues_ = true;
  continues_as_suite_ = true;
  return true;
}

// Inside brackets no statement keyword can stand at the beginning of a line: then a bracket was forgotten.
// Nor will an assignment with blanks around '=' stand there in the column of the statement.
bool TextScanner::statement_opens_here(std::size_t column) const {
  if (peek() == '@' && is_name_start(peek(1))) return true;
  std::size_t end = at_;
  while (end < text_.size() && is_name_part(text_[end])) ++end;
  std::string_view word = text_.substr(at_, end - at_);
  if (!word.empty() && column <= indentation_.alternate && end + 2 < text_.size() && text_[end] == ' ' &&
      text_[end + 1] == '=' && text_[end + 2] == ' ') {
    return true;
  }
  return word == "def" || word == "class" || word == "return" || word == "with" || word == "while" ||
         word == "import" || word == "assert" || word == "pass";
}

void TextScanner::report_unclosed(std::string_view why, Span note_at) {
  const OpenBracket open = brackets_.back();
  Diagnostic& diagnostic =
      error(open.at, open.at + 1, "syntax.bracket",
            fmt::format("found '{}' that is never closed; expected a closing bracket", open.kind));
  if (note_at.known()) {
    diagnostic.note(note_at, std::string(why));
  } else {
    diagnostic.note(std::string(why));
  }
  // The closing ones stand behind what was written last; where the text ends, that is the bracket's own line.
  std::string closing;
  for (auto bracket = brackets_.rbegin(); bracket != brackets_.rend(); ++bracket)
    closing += bracket->kind == '(' ? ')' : bracket->kind == '[' ? ']' : '}';
  std::size_t end = content_end_;
  const std::size_t line_end = std::min(text_.find('\n', open.at), text_.size());
  const std::size_t next = text_.find_first_not_of(" \r\n", line_end);
  const std::size_t column = next == std::string_view::npos ? 0 : next - text_.rfind('\n', next) - 1;
  // A line after it that is no deeper than the statement is most likely one of its own.
  if (at_end() || column <= indentation_.alternate) {
    end = line_end;
    while (end > open.at && (text_[end - 1] == ' ' || text_[end - 1] == '\r')) --end;
  }
  if (end > open.at + 1 && text_[end - 1] == ':') --end;  // a header's
  diagnostic.notes.push_back(insert_here(span(end - 1, end), closing));
  brackets_.clear();
}

void TextScanner::scan_comment() {
  std::string text;
  ++at_;
  while (!at_line_end()) {
    std::size_t length = utf8_length(text_, at_);
    if (length == 0 || peek() == '\0') {
      error(at_, at_ + 1, length == 0 ? "syntax.utf8" : "syntax.nul",
            length == 0 ? fmt::format("found the byte 0x{:02X}; expected UTF-8 text",
                                      static_cast<unsigned char>(peek()))
                        : std::string("found a NUL byte; expected text"))
          .notes.push_back(remove_this(span(at_, at_ + 1)));
      text += '?';
      ++at_;
      continue;
    }
    text += text_.substr(at_, length);
    at_ += length;
  }
  comments_.push_back(comment_text(text));
}

void TextScanner::scan_name() {
  std::size_t begin = at_;
  while (is_name_part(peek())) ++at_;
  std::string_view word = text_.substr(begin, at_ - begin);
  if (word.size() > limits().max_identifier_bytes) {
    limit_error(begin, at_, "limit.identifier",
                fmt::format("found a name of {} bytes; expected at most {}, raise --max-identifier-size",
                            word.size(), limits().max_identifier_bytes));
  }
  if ((peek() == '"' || peek() == '\'') && is_string_prefix(word)) scan_string(begin);
}

void TextScanner::scan_string(std::size_t begin) {
  char quote = peek();
  bool triple = peek(1) == quote && peek(2) == quote;
  std::size_t opening = at_;
  at_ += triple ? 3 : 1;
  while (true) {
    if (at_end() || (!triple && at_line_end())) {
      if (triple) open_at_end_ = Missing::String;
      Diagnostic& diagnostic = error(opening, opening + (triple ? 3 : 1), "syntax.string",
                                     fmt::format("found a string that is never closed; expected {}",
                                                 triple ? std::string(3, quote) : std::string(1, quote)));
      if (!triple) {
        // The first string of the line that is a word before code is the open one; else the last, to the end.
        std::size_t word = opening + 1;
        const std::size_t line_begin = text_.rfind('\n', opening) + 1;  // 0 when there is none
        for (std::size_t open = text_.find(quote, line_begin); open < at_;) {
          word = open + 1;
          while (word < at_ && is_name_part(text_[word])) ++word;
          if (word > open + 1 && word < at_ &&
              std::string_view(",)]}").find(text_[word]) != std::string_view::npos) {
            opening = open;
            break;
          }
          open = text_.find(quote, word);
          if (open < at_) open = text_.find(quote, open + 1);
        }
        const bool whole = word > opening + 1 && (word >= at_ || std::string_view(",)]}").find(text_[word]) !=
                                                                     std::string_view::npos);
        const std::size_t end = whole ? word : at_;
        diagnostic.notes.push_back(insert_here(span(end - 1, end), std::string(1, quote)));
        // What stands behind it is no code, so brackets that it would close are none of its faults.
        brackets_.clear();
        if (current_) current_->damaged = true;
      }
      return;
    }
    char c = peek();
    if (c == '\\') {
      ++at_;
      if (at_end()) continue;
      if (peek() == '\r' && peek(1) == '\n') ++at_;
      at_ += std::max<std::size_t>(1, utf8_length(text_, at_));
      continue;
    }
    if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
      at_ += triple ? 3 : 1;
      break;
    }
    if (c == '\0') {
      error(at_, at_ + 1, "syntax.nul", "found a NUL byte; expected text")
          .notes.push_back(remove_this(span(at_, at_ + 1)));
    }
    std::size_t length = utf8_length(text_, at_);
    if (length == 0) {
      error(at_, at_ + 1, "syntax.utf8",
            fmt::format("found the byte 0x{:02X}; expected UTF-8 text", static_cast<unsigned char>(c)));
      length = 1;
    }
    at_ += length;
  }
  const std::size_t quotes = triple ? 6 : 2, size = at_ - opening - std::min(quotes, at_ - opening);
  if (size > limits().max_string_bytes) {
    limit_error(begin, opening + 1, "limit.string",
                fmt::format("found a string of {} bytes; expected at most {}, raise --max-string-size", size,
                            limits().max_string_bytes));
  }
}

// What stands between two operands in a bracket was meant as a ','; quotation marks of print were meant as
// those of strings; what has no such place goes.
std::vector<DiagnosticNote> TextScanner::stray_character(std::size_t begin, std::size_t end) {
  constexpr std::string_view open = "\u201C", close = "\u201D";
  const std::size_t line_end = std::min(text_.find('\n', end), text_.size());
  if (text_.substr(begin, end - begin) == open) {
    const std::size_t closing = text_.substr(0, line_end).find(close, end);
    if (closing != std::string_view::npos)
      return {write_here(span(begin, end), "\""), write_here(span(closing, closing + close.size()), "\"")};
  }
  if (text_.substr(begin, end - begin) == close) {
    const std::size_t line_begin = begin == 0 ? 0 : text_.rfind('\n', begin - 1) + 1;
    if (text_.substr(line_begin, begin - line_begin).find(open) != std::string_view::npos) return {};
  }
  const std::size_t before = begin == 0 ? std::string_view::npos : text_.find_last_not_of(' ', begin - 1);
  const std::size_t after = text_.find_first_not_of(' ', end);
  const auto is_one_of = [&](std::size_t at, std::string_view signs) {
    return at < text_.size() && (is_name_part(text_[at]) || signs.find(text_[at]) != std::string_view::npos);
  };
  if (!brackets_.empty() && is_one_of(before, ")]}\"'") && is_one_of(after, "([{\"'"))
    return {write_here(span(begin, end), ",")};
  const bool alone = end - begin == 1 || !is_one_of(before, "") || !is_one_of(after, "");
  return alone ? std::vector<DiagnosticNote>{remove_this(span(begin, end))} : std::vector<DiagnosticNote>{};
}

// Operators, digits and whatever has no place in a text.
void TextScanner::scan_other() {
  unsigned char c = static_cast<unsigned char>(peek());
  if (c == 0) {
    error(at_, at_ + 1, "syntax.nul", "found a NUL byte; expected text")
        .notes.push_back(remove_this(span(at_, at_ + 1)));
    ++at_;
  } else if (c >= 0x80) {
    std::size_t length = utf8_length(text_, at_);
    if (length == 0) {
      error(at_, at_ + 1, "syntax.utf8", fmt::format("found the byte 0x{:02X}; expected UTF-8 text", c));
      ++at_;
    } else {
      std::size_t begin = at_;
      while (static_cast<unsigned char>(peek()) >= 0x80 && utf8_length(text_, at_) > 0)
        at_ += utf8_length(text_, at_);
      error(begin, at_, "syntax.character",
            fmt::format("found '{}'; expected names of ASCII letters, digits and '_'",
                        printable(text_.substr(begin, at_ - begin))))
          .notes = stray_character(begin, at_);
      while (is_name_part(peek())) ++at_;
    }
  } else if (c < 0x20 || c == 0x7F || c == '$' || c == '?' || c == '`') {
    error(at_, at_ + 1, "syntax.character",
          fmt::format("found the character '{}', which is not part of the language",
                      printable(text_.substr(at_, 1))))
        .notes = stray_character(at_, at_ + 1);
    ++at_;
  } else if (is_digit(static_cast<char>(c))) {
    while (is_name_part(peek())) ++at_;
  } else {
    ++at_;
  }
}

void TextScanner::open_bracket(char kind) {
  brackets_.push_back({kind, static_cast<std::uint32_t>(at_)});
  if (brackets_.size() + block_depth > limits().max_nesting && !nesting_reported_) {
    nesting_reported_ = true;
    limit_error(at_, at_ + 1, "limit.nesting",
                fmt::format("found {} nested blocks and brackets; expected at most {}, raise --max-nesting",
                            brackets_.size() + block_depth, limits().max_nesting));
  }
  if (brackets_.size() + block_depth > limits().max_nesting && current_) current_->damaged = true;
  ++at_;
}

void TextScanner::close_bracket(char kind) {
  char opener = kind == ')' ? '(' : kind == ']' ? '[' : '{';
  if (!brackets_.empty() && brackets_.back().kind == opener) {
    brackets_.pop_back();
  } else if (brackets_.empty()) {
    Diagnostic& diagnostic = error(at_, at_ + 1, "syntax.bracket",
                                   fmt::format("found '{}' without an opening '{}'", kind, opener));
    diagnostic.notes.push_back(remove_this(span(at_, at_ + 1)));
  } else {
    OpenBracket open = brackets_.back();
    char wanted = open.kind == '(' ? ')' : open.kind == '[' ? ']' : '}';
    Diagnostic& diagnostic =
        error(at_, at_ + 1, "syntax.bracket", fmt::format("found '{}'; expected '{}'", kind, wanted));
    diagnostic.note(span(open.at, open.at + 1), fmt::format("the open '{}' is here", open.kind));
    diagnostic.notes.push_back(write_here(span(at_, at_ + 1), std::string(1, wanted)));
    while (!brackets_.empty() && brackets_.back().kind != opener) brackets_.pop_back();
    if (!brackets_.empty()) brackets_.pop_back();
  }
  ++at_;
}

// Steps over a list of plain numbers when it is one and long enough; stays otherwise.
bool TextScanner::scan_number_list(Line& line) {
  char open = peek();
  if (open == '{') return false;
  char close = open == '[' ? ']' : ')';
  std::size_t at = at_ + 1;
  std::size_t count = 0;
  auto skip_blanks = [&] {
    while (at < text_.size() && std::string_view(" \t\r\n").find(text_[at]) != std::string_view::npos) ++at;
  };
  while (true) {
    skip_blanks();
    if (at < text_.size() && text_[at] == close && count >= number_list_minimum) break;
    if (at < text_.size() && (text_[at] == '-' || text_[at] == '+')) ++at;
    std::size_t digits = at;
    bool seen_digit = false;
    while (at < text_.size()) {
      char c = text_[at];
      if (is_digit(c)) {
        seen_digit = true;
      } else if ((c == '+' || c == '-') && at > digits && (text_[at - 1] == 'e' || text_[at - 1] == 'E')) {
        // an exponent's sign
      } else if (c != '.' && c != 'e' && c != 'E') {
        break;
      }
      ++at;
    }
    if (!seen_digit || !(is_digit(text_[digits]) || text_[digits] == '.')) return false;
    ++count;
    skip_blanks();
    if (at >= text_.size()) return false;
    if (text_[at] == ',') {
      ++at;
      continue;
    }
    if (text_[at] == close && count >= number_list_minimum) break;
    return false;
  }
  line.number_lists.push_back({static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(at + 1)});
  at_ = at + 1;
  return true;
}

}  // namespace relish

// The walk over logical lines.
#include "frontend/text/text_scanner.h"

#include <utility>

namespace relish {

std::optional<FlatLine> TextScanner::next() {
  cursor_.line = nullptr;
  while (!continues_) {
    Indentation indentation;
    for (;; ++cursor_.at) {
      if (cursor_.peek() == ' ') {
        ++indentation.column;
        ++indentation.alternate;
      } else if (cursor_.peek() == '\t') {
        indentation.column = (indentation.column / 8 + 1) * 8;
        ++indentation.alternate;
      } else if (cursor_.peek() == '\f') {
        indentation = {};
      } else {
        break;
      }
    }
    if (cursor_.at_end()) return std::nullopt;
    if (cursor_.at_line_end()) {
      ++blank_lines_;
      cursor_.skip_line_end();
      continue;
    }
    if (cursor_.peek() == '#') {
      blank_lines_ = 0;
      comments_.push_back(tokens_.scan_comment());
      comment_columns_.push_back(indentation.column);
      if (!cursor_.at_end()) cursor_.skip_line_end();
      continue;
    }
    if (cursor_.at_continuation()) {
      ++cursor_.at;
      cursor_.skip_line_end();
      if (cursor_.at_end()) cursor_.open_at_end = Missing::Continuation;
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
  cursor_.line = &result.line;
  scan_content(result.line);
  cursor_.line = nullptr;
  return result;
}

void TextScanner::scan_content(Line& line) {
  std::size_t begin = cursor_.at;
  content_end_ = cursor_.at;
  brackets_.clear();
  if (cursor_.peek() == '@') {
    line.first_word = cursor_.text.substr(begin, 1);
  } else if (is_name_start(cursor_.peek())) {
    std::size_t end = begin;
    while (end < cursor_.text.size() && is_name_part(cursor_.text[end])) ++end;
    line.first_word = cursor_.text.substr(begin, end - begin);
  }
  bool compound = opens_block(line.first_word);
  if (line.first_word == "match") compound = false;  // a soft keyword: a plain name here
  while (true) {
    while (cursor_.peek() == ' ' || cursor_.peek() == '\t' || cursor_.peek() == '\f') ++cursor_.at;
    if (cursor_.at_end()) break;
    if (cursor_.at_line_end()) {
      if (!goes_on_behind_line_end()) break;
    } else if (cursor_.peek() == '#') {
      take_comment(line);
    } else if (cursor_.peek() == '\\') {
      scan_continuation();
    } else if (brackets_.empty() && cursor_.peek() == ';') {
      ++cursor_.at;
      while (cursor_.peek() == ' ' || cursor_.peek() == '\t') ++cursor_.at;
      continues_ = !cursor_.at_line_end() && cursor_.peek() != '#';
      if (continues_) break;
    } else {
      const std::size_t token = cursor_.at;
      tokens_.scan_token(line);
      content_end_ = cursor_.at;
      if (ends_header(cursor_.text[token], compound, line)) break;
      if (token == cursor_.at) ++cursor_.at;  // never stand still
    }
  }
  if (!brackets_.empty() && cursor_.at_end() && !line.damaged) {
    cursor_.open_at_end = Missing::Bracket;
    brackets_.report_unclosed("the text ends before it is closed", Span{}, content_end_,
                              indentation_.alternate);
  }
  if (compound && !line.header) line.header = true;  // the grammar reports the missing ':'
  line.span = cursor_.span(begin, content_end_);
}

// At a line's end: whether the logical line goes on behind it. Inside brackets it does, unless a statement
// begins there.
bool TextScanner::goes_on_behind_line_end() {
  cursor_.skip_line_end();
  if (brackets_.empty()) return false;
  std::size_t line_begin = cursor_.at;
  while (cursor_.peek() == ' ' || cursor_.peek() == '\t') ++cursor_.at;
  if (!statement_opens_here(cursor_.at - line_begin)) return true;
  brackets_.report_unclosed("a statement begins before it is closed",
                            cursor_.span(cursor_.at, cursor_.at + 1), content_end_, indentation_.alternate);
  // The next physical line starts here: step back to its beginning.
  while (cursor_.at > 0 && cursor_.text[cursor_.at - 1] != '\n') --cursor_.at;
  return false;
}

// A comment behind or inside the line.
void TextScanner::take_comment(Line& line) {
  std::string comment = tokens_.scan_comment();
  if (brackets_.empty()) {
    line.trailing_comment = std::move(comment);
  } else {
    line.comments.push_back(std::move(comment));
  }
}

// '\' at a line's end.
void TextScanner::scan_continuation() {
  if (cursor_.at_continuation()) {
    ++cursor_.at;
    cursor_.skip_line_end();
    if (cursor_.at_end()) {
      cursor_.open_at_end = Missing::Continuation;
      cursor_.error(content_end_, content_end_ + 1, "syntax.continuation",
                    "found the end of the text after a continuation; expected the rest of the statement");
    }
    return;
  }
  cursor_.error(cursor_.at, cursor_.at + 1, "syntax.character",
                "found '\\' inside a line; expected it at the line's end only");
  ++cursor_.at;
}

// Behind a token: whether it is the ':' of a header whose suite follows on the same physical line.
bool TextScanner::ends_header(char token, bool compound, Line& line) {
  if (token != ':' || !brackets_.empty() || cursor_.peek() == '=') return false;
  std::size_t ahead = cursor_.at;
  while (ahead < cursor_.text.size() && (cursor_.text[ahead] == ' ' || cursor_.text[ahead] == '\t')) ++ahead;
  const bool last = ahead >= cursor_.text.size() || cursor_.text[ahead] == '\n' ||
                    cursor_.text[ahead] == '\r' || cursor_.text[ahead] == '#';
  if (compound || last) line.header = true;
  if (!compound || last) return false;
  cursor_.at = ahead;
  continues_ = true;
  continues_as_suite_ = true;
  return true;
}

// Inside brackets no statement keyword can stand at the beginning of a line: then a bracket was forgotten.
// Nor will an assignment with blanks around '=' stand there in the column of the statement.
bool TextScanner::statement_opens_here(std::size_t column) const {
  if (cursor_.peek() == '@' && is_name_start(cursor_.peek(1))) return true;
  std::size_t end = cursor_.at;
  while (end < cursor_.text.size() && is_name_part(cursor_.text[end])) ++end;
  std::string_view word = cursor_.text.substr(cursor_.at, end - cursor_.at);
  if (!word.empty() && column <= indentation_.alternate && end + 2 < cursor_.text.size() &&
      cursor_.text[end] == ' ' && cursor_.text[end + 1] == '=' && cursor_.text[end + 2] == ' ') {
    return true;
  }
  return word == "def" || word == "class" || word == "return" || word == "with" || word == "while" ||
         word == "import" || word == "assert" || word == "pass";
}

}  // namespace relish

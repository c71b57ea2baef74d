// Opening, closing and what was left open.
#include "frontend/text/open_brackets.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/fix.h"
#include "support/limits.h"

namespace relish {

void OpenBrackets::open(char kind) {
  open_.push_back({kind, static_cast<std::uint32_t>(cursor_.at)});
  if (open_.size() + block_depth > limits().max_nesting && !nesting_reported_) {
    nesting_reported_ = true;
    cursor_.limit_error(
        cursor_.at, cursor_.at + 1, "limit.nesting",
        fmt::format("found {} nested blocks and brackets; expected at most {}, raise --max-nesting",
                    open_.size() + block_depth, limits().max_nesting));
  }
  if (open_.size() + block_depth > limits().max_nesting) cursor_.damage();
  ++cursor_.at;
}

void OpenBrackets::close(char kind) {
  char opener = kind == ')' ? '(' : kind == ']' ? '[' : '{';
  if (!open_.empty() && open_.back().kind == opener) {
    open_.pop_back();
  } else if (open_.empty()) {
    Diagnostic& diagnostic = cursor_.error(cursor_.at, cursor_.at + 1, "syntax.bracket",
                                           fmt::format("found '{}' without an opening '{}'", kind, opener));
    diagnostic.notes.push_back(remove_this(cursor_.span(cursor_.at, cursor_.at + 1)));
  } else {
    const Bracket open = open_.back();
    char wanted = open.kind == '(' ? ')' : open.kind == '[' ? ']' : '}';
    Diagnostic& diagnostic = cursor_.error(cursor_.at, cursor_.at + 1, "syntax.bracket",
                                           fmt::format("found '{}'; expected '{}'", kind, wanted));
    diagnostic.note(cursor_.span(open.at, open.at + 1), fmt::format("the open '{}' is here", open.kind));
    diagnostic.notes.push_back(write_here(cursor_.span(cursor_.at, cursor_.at + 1), std::string(1, wanted)));
    while (!open_.empty() && open_.back().kind != opener) open_.pop_back();
    if (!open_.empty()) open_.pop_back();
  }
  ++cursor_.at;
}

void OpenBrackets::report_unclosed(std::string_view why, Span note_at, std::size_t content_end,
                                   std::uint32_t column_of_statement) {
  const Bracket open = open_.back();
  Diagnostic& diagnostic =
      cursor_.error(open.at, open.at + 1, "syntax.bracket",
                    fmt::format("found '{}' that is never closed; expected a closing bracket", open.kind));
  if (note_at.known()) {
    diagnostic.note(note_at, std::string(why));
  } else {
    diagnostic.note(std::string(why));
  }
  // The closing ones stand behind what was written last; where the text ends, that is the bracket's own line.
  std::string closing;
  for (auto bracket = open_.rbegin(); bracket != open_.rend(); ++bracket)
    closing += bracket->kind == '(' ? ')' : bracket->kind == '[' ? ']' : '}';
  std::size_t end = content_end;
  const std::size_t line_end = std::min(cursor_.text.find('\n', open.at), cursor_.text.size());
  const std::size_t next = cursor_.text.find_first_not_of(" \r\n", line_end);
  const std::size_t column = next == std::string_view::npos ? 0 : next - cursor_.text.rfind('\n', next) - 1;
  // A line after it that is no deeper than the statement is most likely one of its own.
  if (cursor_.at_end() || column <= column_of_statement) {
    end = line_end;
    while (end > open.at && (cursor_.text[end - 1] == ' ' || cursor_.text[end - 1] == '\r')) --end;
  }
  if (end > open.at + 1 && cursor_.text[end - 1] == ':') --end;  // a header's
  diagnostic.notes.push_back(insert_here(cursor_.span(end - 1, end), closing));
  open_.clear();
}

}  // namespace relish

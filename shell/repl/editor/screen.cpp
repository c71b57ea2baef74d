// Rows of a picture.
#include "shell/repl/editor/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cwchar>

#include "shell/program/highlight.h"
#include "support/character_width.h"

namespace relish {
namespace {

struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
  bool can_be_seen = true;
};

// The character at the beginning of the text; one of no known width takes a column.
Character character_of(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {1, 1, first >= 0x20 && first != 0x7F};
  const std::size_t bytes = std::min<std::size_t>(first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2, text.size());
  std::mbstate_t state{};
  wchar_t wide = 0;
  const std::size_t got = std::mbrtowc(&wide, text.data(), bytes, &state);
  if (got == static_cast<std::size_t>(-1) || got == static_cast<std::size_t>(-2)) return {1, 1, false};
  return {got, character_width(static_cast<char32_t>(wide))};
}

std::string cut_at(const std::string& line, std::size_t columns) {
  std::size_t at = 0, width = 0;
  while (at < line.size()) {
    const Character next = character_of(std::string_view(line).substr(at));
    if (width + next.columns > columns) break;
    width += next.columns;
    at += next.bytes;
  }
  return line.substr(0, at);
}

constexpr std::string_view fault_mark = "\x1b[4m";

// Lays the text out, character by character.
class Layout {
 public:
  explicit Layout(const EditorView& view) : view_(view) {}

  EditorPicture run() {
    if (view_.colors) spans_ = token_spans(view_.text);
    begin_line(view_.prompt);
    for (at_ = 0; at_ < view_.text.size();) step();
    if (view_.cursor >= view_.text.size()) note_cursor();
    finish_row();
    return std::move(picture_);
  }

 private:
  void begin_line(const std::string& prompt) {
    // On a terminal that is too small for it the text has the room.
    row_ = width_of(prompt) < view_.columns ? prompt : std::string();
    column_ = width_of(row_);
  }

  void finish_row() {
    if (style_ != Style{}) row_ += color_end;
    picture_.rows.push_back(std::move(row_));
    row_.clear();
    column_ = 0;
    style_ = {};
  }

  void note_cursor() {
    if (column_ >= view_.columns) finish_row();
    picture_.cursor_row = picture_.rows.size();
    picture_.cursor_column = column_;
  }

  bool is_fault(std::size_t place) const {
    return std::any_of(view_.faults.begin(), view_.faults.end(),
                       [&](const auto& fault) { return fault.first <= place && place < fault.second; });
  }

  void color() {
    if (!view_.colors) return;
    while (span_ < spans_.size() && spans_[span_].end <= at_) ++span_;
    const bool inside = span_ < spans_.size() && spans_[span_].begin <= at_;
    const Style wanted{inside ? span_ + 1 : 0, is_fault(at_)};
    if (wanted == style_) return;
    if (style_ != Style{}) row_ += color_end;
    if (inside) row_ += color_of(spans_[span_].kind);
    if (wanted.fault) row_ += fault_mark;
    style_ = wanted;
  }

  void step() {
    if (at_ == view_.cursor) note_cursor();
    if (view_.text[at_] == '\n') {
      finish_row();
      begin_line(view_.next_prompt);
      ++at_;
      return;
    }
    Character next = character_of(view_.text.substr(at_));
    const bool shown = next.can_be_seen && next.columns <= view_.columns;
    if (!shown) next.columns = 1;
    if (column_ + next.columns > view_.columns) finish_row();
    color();
    row_ += shown ? view_.text.substr(at_, next.bytes) : std::string_view("?");
    column_ += next.columns;
    // A cursor inside a character stands in front of the next one.
    const std::size_t end = at_ + next.bytes;
    if (view_.cursor > at_ && view_.cursor < end) note_cursor();
    at_ = end;
  }

  const EditorView& view_;
  EditorPicture picture_;
  std::vector<TokenSpan> spans_;
  std::size_t span_ = 0;
  struct Style {
    std::size_t span = 0;  // whose colour is on, from 1
    bool fault = false;
    bool operator==(const Style&) const = default;
  };
  Style style_;
  std::string row_;
  std::size_t column_ = 0, at_ = 0;
};

}  // namespace

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character next = character_of(text);
    width += next.columns;
    text.remove_prefix(next.bytes);
  }
  return width;
}

EditorPicture picture_of(const EditorView& view) {
  EditorPicture picture = Layout(view).run();
  // The text comes first: what stands below has the room that is left.
  const std::size_t most = std::max<std::size_t>(view.rows, 2) - 1;
  const std::size_t below = std::min(view.below.size(), most - std::min(picture.rows.size(), most / 2));
  const std::size_t room = most - below;
  if (picture.rows.size() > room) {
    const std::size_t last = picture.rows.size() - room;
    const std::size_t begin = std::min(last, picture.cursor_row - std::min(picture.cursor_row, room / 2));
    const auto first = picture.rows.begin() + static_cast<std::ptrdiff_t>(begin);
    picture.rows = std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(room));
    picture.cursor_row -= begin;
  }
  for (std::size_t i = 0; i < below; ++i) {
    const std::string line = cut_at(view.below[i], view.columns);
    picture.rows.push_back(view.colors ? fmt::format("\x1b[2m{}{}", line, color_end) : line);
  }
  return picture;
}

std::string bytes_of(const EditorPicture& picture, std::size_t& cursor_row) {
  std::string bytes = "\x1b[?25l\r";
  if (cursor_row > 0) bytes += fmt::format("\x1b[{}A", cursor_row);
  // What is erased is so first: behind a row that is full, terminals would take its last character along.
  bytes += "\x1b[J";
  for (std::size_t i = 0; i < picture.rows.size(); ++i) bytes += (i > 0 ? "\r\n" : "") + picture.rows[i];
  const std::size_t up = picture.rows.size() - 1 - picture.cursor_row;
  if (up > 0) bytes += fmt::format("\x1b[{}A", up);
  bytes += '\r';
  if (picture.cursor_column > 0) bytes += fmt::format("\x1b[{}C", picture.cursor_column);
  bytes += "\x1b[?25h";
  cursor_row = picture.cursor_row;
  return bytes;
}

}  // namespace relish

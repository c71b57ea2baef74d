// Places and histories of texts.
#include "shell/repl/editor/edited_text.h"

#include <algorithm>

#include "support/character_width.h"
#include "support/unquoted.h"

namespace relish {
namespace {

constexpr std::size_t indent_step = 4;
constexpr std::size_t most_changes = 500, most_kept_bytes = 4 << 20;

bool is_later_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

bool is_word_part(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The place `count` characters into the line that begins at `begin`, or its end.
std::size_t place_in_line(std::string_view text, std::size_t begin, std::size_t count) {
  std::size_t at = begin;
  while (count > 0 && at < text.size() && text[at] != '\n') {
    ++at;
    while (at < text.size() && is_later_byte(text[at])) ++at;
    --count;
  }
  return at;
}

// What stands in front of a '#' that is in no string.
std::string_view without_comment(std::string_view line) {
  return line.substr(0, find_unquoted(line, [&](std::size_t at) { return line[at] == '#'; }));
}

}  // namespace

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_later_byte(c); }));
}

std::size_t place_above(std::string_view text, std::size_t at) {
  const std::size_t begin = line_begin(text, at);
  if (begin == 0) return at;
  return place_in_line(text, line_begin(text, begin - 1), characters_in(text.substr(begin, at - begin)));
}

std::size_t place_below(std::string_view text, std::size_t at) {
  const std::size_t end = line_end(text, at);
  if (end == text.size()) return at;
  const std::size_t begin = line_begin(text, at);
  return place_in_line(text, end + 1, characters_in(text.substr(begin, at - begin)));
}

std::size_t place_behind(std::string_view text, std::size_t at) {
  return at < text.size() ? at + cluster_bytes(text.substr(at)) : at;
}

// What belongs together is known from its beginning. ASCII stands by itself, so it is looked for from there.
std::size_t place_before(std::string_view text, std::size_t at) {
  if (at == 0) return 0;
  std::size_t begin = at - 1;
  while (begin > 0 && static_cast<unsigned char>(text[begin]) >= 0x80) --begin;
  while (true) {
    const std::size_t behind = place_behind(text, begin);
    if (behind >= at) return begin;
    begin = behind;
  }
}

std::size_t word_begin(std::string_view text, std::size_t at) {
  while (at > 0 && !is_word_part(text[at - 1])) --at;
  while (at > 0 && is_word_part(text[at - 1])) --at;
  return at;
}

std::string indentation_behind(std::string_view text, std::size_t at) {
  constexpr std::size_t step = indent_step;
  const std::size_t begin = line_begin(text, at);
  const std::string_view line = text.substr(begin, at - begin);
  const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
  const std::string_view words = without_comment(line.substr(blanks));
  std::size_t count = blanks;
  if (words.substr(0, words.find_last_not_of(' ') + 1).ends_with(':')) count += step;
  for (const std::string_view end : {"return", "break", "continue", "pass"}) {
    const bool alone = words == end || words.starts_with(std::string(end) + " ");
    if (alone && count >= step) count -= step;
  }
  return std::string(count, ' ');
}

std::size_t blanks_to_step(std::string_view text, std::size_t at) {
  const std::size_t begin = line_begin(text, at);
  const std::size_t blanks = at - begin;
  if (blanks == 0 || text.substr(begin, blanks).find_first_not_of(' ') != std::string_view::npos) return 0;
  return (blanks - 1) % indent_step + 1;
}

EditedText unindented(const EditedText& text) {
  const std::size_t begin = line_begin(text.text, text.cursor);
  const std::size_t words = std::min(text.text.find_first_not_of(' ', begin), text.text.size());
  const std::size_t blanks = blanks_to_step(text.text, words);
  EditedText result = text;
  result.text.erase(words - blanks, blanks);
  if (text.cursor > words - blanks) result.cursor = std::max(text.cursor, words) - blanks;
  return result;
}

void EditHistory::begin(const EditedText& now) {
  before_ = {now};
  bytes_ = now.text.size();
}

void EditHistory::note(const EditedText& now) {
  if (!before_.empty() && before_.back().text == now.text) {
    before_.back().cursor = now.cursor;
    return;
  }
  before_.push_back(now);
  bytes_ += now.text.size();
  while (before_.size() > 2 && (before_.size() > most_changes || bytes_ > most_kept_bytes)) {
    bytes_ -= before_.front().text.size();
    before_.erase(before_.begin());
  }
}

EditedText EditHistory::undo() {
  if (before_.size() > 1) {
    bytes_ -= before_.back().text.size();
    before_.pop_back();
  }
  return before_.empty() ? EditedText{} : before_.back();
}

}  // namespace relish

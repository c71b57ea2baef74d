// A text with a cursor, as keys see it: its lines, the way to go back, and what was cut. Nothing here knows a
// terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/lines.h"

namespace relish {

struct EditedText {
  std::string text;
  std::size_t cursor = 0;

  bool operator==(const EditedText&) const = default;
};

// Places in a text, by bytes (those of lines are in support/lines.h).
// The place in the line above or below that has as many characters in front of it; where there is no such
// line, `at` itself.
std::size_t place_above(std::string_view text, std::size_t at);
std::size_t place_below(std::string_view text, std::size_t at);
// The place before or behind one character, as a person counts them: with its marks.
std::size_t place_before(std::string_view text, std::size_t at);
std::size_t place_behind(std::string_view text, std::size_t at);
std::size_t word_begin(std::string_view text, std::size_t at);
// How many characters there are.
std::size_t characters_in(std::string_view text);

// The blanks that a line behind that at the cursor begins with: those of the line, more behind a header, less
// behind what ends a block.
std::string indentation_behind(std::string_view text, std::size_t at);

// Of the blanks in front of `at`, where nothing else stands in its line, those that are one step of them.
std::size_t blanks_to_step(std::string_view text, std::size_t at);
// With a step of blanks less in front of the line, wherever in it the cursor is.
EditedText unindented(const EditedText& text);

// What was there before each change, to go back to.
class EditHistory {
 public:
  void begin(const EditedText& now);
  // The present text, once for each change.
  void note(const EditedText& now);
  // The text before; the present one where there is none.
  EditedText undo();

 private:
  std::vector<EditedText> before_;
  std::size_t bytes_ = 0;
};

}  // namespace relish

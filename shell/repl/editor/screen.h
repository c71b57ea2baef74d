// The picture of the input that is edited: a pure function of text, cursor, prompts, what stands below, and
// the size of the terminal. Rows wrap at its width; of more rows than it has those around the cursor show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relish {

struct EditorView {
  std::string_view text;
  std::size_t cursor = 0;                                        // in bytes
  std::string prompt;                                            // of the first line,
  std::string next_prompt;                                       // and of those behind it
  std::vector<std::pair<std::size_t, std::size_t>> faults = {};  // places to be underlined
  std::vector<std::string> below;  // lines under the text, cut at the width: a menu, a status line
  std::size_t columns = 80, rows = 24;
  bool colors = true;
};

struct EditorPicture {
  std::vector<std::string> rows;  // with colours
  std::size_t cursor_row = 0, cursor_column = 0;
};
EditorPicture picture_of(const EditorView& view);

// The bytes that draw a picture where the one before was drawn: `cursor_row` is the row of the cursor in it,
// which becomes that of this one.
std::string bytes_of(const EditorPicture& picture, std::size_t& cursor_row);

// Columns that the text takes on a terminal.
std::size_t width_of(std::string_view text);

}  // namespace relish

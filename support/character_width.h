// How many cells of a terminal a character takes.
#pragma once

#include <cstddef>
#include <string_view>

namespace relish {

// 2 for the wide characters of East Asia and pictures, 0 for marks on the character before, else 1. It does
// not depend on the locale.
std::size_t character_width(char32_t character);
// The bytes of what a person takes for the first character of a UTF-8 text that is not empty: with the marks
// on it, the colour of its skin, all parts of a flag, and what a joiner joins to it.
std::size_t cluster_bytes(std::string_view text);
// Of a UTF-8 text; a byte that is no character takes one.
std::size_t cells_in(std::string_view text);
// As much of the beginning of the text as goes into so many cells, at least a character of what is not empty.
std::string_view first_cells(std::string_view text, std::size_t cells);

}  // namespace relish

// How many cells of a terminal a character takes.
#pragma once

#include <cstddef>

namespace relish {

// 2 for the wide characters of East Asia and pictures, 0 for marks on the character before, else 1. It does
// not depend on the locale.
std::size_t character_width(char32_t character);

}  // namespace relish

// Cutting of long texts that nobody types. What stands together is read before any of it runs, so a text of
// ten thousand modules would be ten thousand modules in memory, though each takes the place of the one
// before.
#pragma once

#include <vector>

#include "shell/repl/inputs/input_parts.h"

namespace relish {

// From that many bytes on a part ends where a class or function is defined anew.
inline constexpr std::size_t long_part = 64 << 10;

// The parts, where long ones of statements are several. Nothing in front of a cut mentions what is bound
// behind it alone, so each may be read when those before it have run.
std::vector<InputPart> cut_long_parts(std::vector<InputPart> parts);

}  // namespace relish

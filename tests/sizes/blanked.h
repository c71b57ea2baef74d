// What the counts of classes and names read: a C++ text in which only code stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace relish::sizes {

bool of_word(char c);

// The text with spaces for comments, literals and preprocessor lines; lines stay lines.
std::string blanked(std::string_view text);

// Behind the bracket that closes the one at `open`.
std::size_t behind(std::string_view text, std::size_t open);

std::string_view trimmed(std::string_view text);

}  // namespace relish::sizes

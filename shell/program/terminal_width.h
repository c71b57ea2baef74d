// How wide a line may be that is made for the screen.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace relish {

// Of the terminal that standard output is; `otherwise` where it is none or does not say.
std::size_t terminal_columns(std::size_t otherwise);

// Lines that are longer are broken at blanks; what goes on stands under the second column of a list, or else
// where the line began. As it is where `columns` is 0.
std::string wrapped(std::string_view text, std::size_t columns);

}  // namespace relish

// How wide a line may be that is made for the screen.
#pragma once

#include <cstddef>

namespace relish {

// Of the terminal that standard output is; `otherwise` where it is none or does not say.
std::size_t terminal_columns(std::size_t otherwise);

}  // namespace relish

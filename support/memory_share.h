// The share of tensors of the memory that there is.
#pragma once

#include <cstdint>

namespace relish {

// How much of the available memory tensors may have when nobody says it: 80 %, and of little memory less,
// since the program itself and what it compiles with need some; the system ends a process that takes more
// than there is.
std::uint64_t default_memory_limit(std::uint64_t available);

}  // namespace relish

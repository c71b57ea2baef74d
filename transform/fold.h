// Constant folding: operator calls on constants become constants.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Calls that would fault stay, and so do those whose result is larger than what they are made of by more than
// `most_growth` bytes, that a text should not hold. Functions in which nothing is folded keep their handles.
Module fold(const Module& module, std::size_t most_growth = std::size_t{1} << 16);

}  // namespace relish

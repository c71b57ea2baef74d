// How much code a kernel is, told by its text: what decides which kernels go into one unit must be known
// before any of them is emitted.
#pragma once

#include <cstdint>

#include "ir/nodes/stmt.h"

namespace relish::jit {

// About how many instructions the optimizer is given.
std::int64_t code_size(const PrimFunc& function);

}  // namespace relish::jit

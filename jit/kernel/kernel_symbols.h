// The hidden parameters of a kernel: the symbolic dims of its buffers.
#pragma once

#include <vector>

#include "ir/nodes/stmt.h"

namespace relish::jit {

// Symbolic dims of a prim_func that are no scalar parameters, in order of first use in the buffer shapes.
std::vector<ScalarVar> kernel_symbols(const PrimFunc& function);

}  // namespace relish::jit

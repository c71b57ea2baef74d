// A prim_func in float64, for transform/widen.h.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"

namespace relish {

// The function with all its floating buffers, locals, literals and casts in float64; nothing where its
// meaning hangs on the bits of a dtype or on what is computed elsewhere.
std::optional<PrimFunc> widened(const PrimFunc& function);

}  // namespace relish

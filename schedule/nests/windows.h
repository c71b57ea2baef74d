// The rule for windows: a few updates of each element, as in pools, their gradients and depthwise
// convolutions.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"
#include "schedule/target.h"

namespace relish {

// The nest with its innermost loops, which go over a window of a few iterations, unrolled around local
// buffers for what they update, so that the loop over the elements is the innermost one and runs along
// memory. None when they are no window or what they read is far apart from element to element. Elements that
// begin anew and are made of sums, products and choices go through registers a vector at a time; the last
// vector of a row ends with the row, so it may compute again what the one before it has.
//
// Every element sees its updates in the order of the text.
std::optional<Stmt> unroll_windows(const Stmt& nest, RangeProver& prover, const Target& target);

}  // namespace relish

// What vectors compute side by side, a lane for each iteration of a loop: the forms that rules may write into
// a vectorized loop, and that code generation has one instruction or a few for.
#pragma once

#include <optional>
#include <vector>

#include "ir/nodes/stmt.h"

namespace relish {

// Dtypes that are the same in memory and in registers.
bool has_lanes(DType dtype);
// Whether vectors of that dtype have the operation.
bool lane_wise(BinaryOp op, DType dtype);
// Whether vectors convert the one to the other: to floats, and of integers to wider ones.
bool converted_in_lanes(DType from, DType to);
// Whether every operation of the expression has a form for lanes and may be computed in all of them: plain
// arithmetic, choices of which both sides are computed, and functions that have a form (IntrinsicLanes).
bool computed_in_lanes(const Scalar& value);

// The stores of a body and the names that it gives, in order; none when it does something else, or stores
// nothing.
std::optional<std::vector<Stmt>> lines_of(const Stmt& body);
// Whether each of these lines is computed in lanes, at indices that use none of their names.
bool all_in_lanes(const std::vector<Stmt>& lines);

}  // namespace relish

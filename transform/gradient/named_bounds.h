// Loops whose index is used, and whose bounds the function computes on the way, get symbols for these: a
// round is then counted from both ends, as with bounds that are sizes or parameters.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// The function with an R.match_cast before each such loop, which tells what a computed bound is. The same
// handle when there is none.
FunctionPtr with_named_bounds(const FunctionPtr& function);

}  // namespace relish

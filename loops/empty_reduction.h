// Reductions over nothing: a loop that runs no iteration still leaves the init of its block behind, so that a
// sum over an empty axis is 0 whatever the tier. Both tiers ask here.
#pragma once

#include "ir/nodes/stmt.h"

namespace relish {

// What stands for the loop when it has no iteration: the init of the block that it drives through reduce
// axes, under the loops inside it that drive other axes. Undefined: nothing.
Stmt init_of_empty(const Stmt& loop);

}  // namespace relish

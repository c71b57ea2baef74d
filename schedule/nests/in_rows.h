// Nests that are no contractions of blocks, and no movement: the rules for dots, for windows and for every
// other sum, in this order.
#pragma once

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"
#include "schedule/nests/arrange.h"
#include "schedule/target.h"

namespace relish {

// The same nest when no rule takes it.
Stmt in_rows(const Stmt& nest, RangeProver& prover, const Target& target, Accumulators& accumulators);

}  // namespace relish

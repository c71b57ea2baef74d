// The order of a nest of loops around one store: reductions are split into their initialisation and their
// update, the innermost loop runs along memory, long sums are made of partial sums.
#pragma once

#include <unordered_set>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"
#include "schedule/target.h"

namespace relish {

// Buffers that hold partial sums: the sums into them are arranged already.
using Accumulators = std::unordered_set<std::uint64_t>;

// The nest itself, or an equal one in a better order. Every element sees the same updates in the same order;
// only sums of many terms over several loops are made of partial sums, one for each loop. A nest with
// unrolled or vectorized loops stays as it is. `accumulators` receives those that are made.
Stmt arrange(const Stmt& nest, RangeProver& prover, const Target& target, Accumulators& accumulators);

}  // namespace relish

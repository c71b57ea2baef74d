// The rule for dots: sums of products along memory, as in products of a matrix and a vector and in layers
// that keep their weights by rows.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"
#include "schedule/nests/arrange.h"
#include "schedule/target.h"

namespace relish {

// The nest with its last reduce loop summed in 32 lanes of vector registers, several rows at once where the
// nest has a loop over rows. None when that loop does not run along memory in all that it reads, or when the
// terms are no products (whose sums the vectorizer widens by itself).
//
// Lane l of an element has its terms l, l + 32, l + 64, …, the terms behind the last whole 32 make one more
// sum; these are joined in one order. Sums of more than 2^15 terms are cut into parts of that many. All this
// depends on the number of terms alone.
std::optional<Stmt> sum_in_lanes(const Stmt& nest, RangeProver& prover, const Target& target,
                                 Accumulators& accumulators);

}  // namespace relish

// Sums of terms that lie packed in numbers of more bits, as of weights of four bits.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// The nest with its terms k in another order: all k of one k % d behind each other, for each of these, where
// d terms of a sum lie in one element, of a byte or two, that is read at k // d. So what is read lies side by
// side in memory, and which part of it is taken is the same all along the loop.
std::optional<Stmt> unpack_terms(const Stmt& nest, RangeProver& prover);

}  // namespace relish

// The rule for remainders: sums whose terms count only where an index is a multiple of a step, as what
// transposed convolutions and pools with strides gather.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// The nest as one for each remainder of its axes, which runs over just the terms that count: for
//
//   C[.., x] += (x + 1 - k) % 2 == 0 and .. ? A[.., (x + 1 - k) // 2] * B[.., k] : 0
//
// the even x with the odd k and the odd x with the even k. No remainder and no quotient is left. Those
// without sums over the same iterations are one nest. None when nothing in the nest is of this form.
std::optional<Stmt> split_by_remainders(const Stmt& nest, RangeProver& prover);

}  // namespace relish

// Indices of loads: quotients and remainders that the ranges of axes make superfluous, and which
// indices move along memory by fixed strides.
#pragma once

#include "ir/nodes/scalar.h"
#include "loops/range_prover.h"

namespace relish {

// The expression with (16 * i + j) // 16 as i and (16 * i + j) % 16 as j in the indices of its loads, where
// j is in [0, 16): what reshaping leaves behind. `prover` is inside of the loops.
Scalar with_plain_indices(const Scalar& value, RangeProver& prover);

// The same of all quotients and remainders of the expression.
Scalar without_quotients(const Scalar& value, RangeProver& prover);

// Sums and products of variables and literals.
bool is_affine(const Scalar& index);
bool has_affine_loads(const Scalar& value);

}  // namespace relish

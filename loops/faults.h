// What of a prim_func can fail when it runs: accesses that are not proved in range, divisions that may be by
// zero, shifts by what may be negative, asserts. One rule for legalizing, scheduling and code generation.
#pragma once

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// Whether the operation itself, on integers, has no result for some operands: a division by what is no
// literal other than 0, a shift of signed integers by what is no literal that is not negative.
bool operation_may_fault(const Scalar& value);
// The same where `prover` may show that what is shifted by is not negative.
bool operation_may_fault(const Scalar& value, RangeProver& prover);

// Whether a part of the expression is a division of integers by what is no literal other than 0.
bool may_divide_by_zero(const Scalar& value);

// Whether evaluating the expression may fail, its loads included.
bool may_fault(const Scalar& value, RangeProver& prover);

// Whether a run of the function may fail other than by an access out of range.
bool may_fault(const PrimFunc& function);

}  // namespace relish

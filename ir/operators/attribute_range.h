// Numbers that a call writes as attributes and that an operator computes with.
#pragma once

#include "ir/operators/op.h"

namespace relish {

// Rejects by its name a float attribute that becomes infinite in the dtype that the operator computes in:
// that of its first floating tensor, float32 for the 16-bit floats. What 64 bits hold of it would be lost
// without a word.
void require_finite_attributes(const CallView& call);

}  // namespace relish

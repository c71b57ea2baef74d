// Quotients and remainders of one number by one divisor, put together again.
#pragma once

#include "ir/nodes/scalar.h"

namespace relish {

// The integer expression in canonical form, with e for each e // c * c + e % c in its sum.
Scalar rejoined(const Scalar& index);

}  // namespace relish

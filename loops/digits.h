// Quotients and remainders of one number by one divisor, put together again.
#pragma once

#include <optional>
#include <vector>

#include "ir/nodes/scalar.h"

namespace relish {

// The integer expression in canonical form, with e for each e // c * c + e % c in its sum, and n // c for
// each n // (c * m) * m + n // c % m.
Scalar rejoined(const Scalar& index);

// The place of an element in a compact buffer of literal sizes whose indices are digits of a number, as those
// of a reshape are: that number, without quotients and remainders. None for other indices.
std::optional<Scalar> counted_place(const Buffer& buffer, const std::vector<Scalar>& indices);

}  // namespace relish

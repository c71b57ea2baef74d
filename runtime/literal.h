// Numbers written beside a tensor: a literal becomes a tensor of that dtype when it is a value of it.
#pragma once

#include <cstdint>
#include <variant>

#include "runtime/tensor.h"
#include "support/source.h"

namespace relish {

using LiteralNumber = std::variant<bool, std::int64_t, double>;

// Whether the integer is a value of the dtype; for a float dtype, whether it is one exactly.
bool holds_integer(DType dtype, std::int64_t value);

// The 0-d tensor of `dtype` that stands for a number beside a tensor of that dtype. Integers must be values
// of it exactly; reals are rounded to the nearest value of a float dtype, but a finite one stays finite.
// TypeError at `span` (literal.tensor) for a real beside integers, a bool beside numbers and a value the
// dtype has not.
Tensor tensor_of_literal(const LiteralNumber& number, DType dtype, Span span);

}  // namespace relish

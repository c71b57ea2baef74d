// Scalar arguments of operators (R.Prim): what is known of them before the run, and their values converted to
// the dtype of elements.
#pragma once

#include <optional>

#include "stdlib/families/language/lowering.h"

namespace relish {

// Rejects argument `i` by the name of its parameter unless it is an integer scalar (not bool).
void require_integer_scalar(const CallView& call, std::size_t i);
// Argument `i` as an integer expression of the symbolic sizes; absent when only a run knows it.
std::optional<Scalar> integer_expression(const CallView& call, std::size_t i);
// The value of argument `i`, when it is a literal.
std::optional<std::int64_t> literal_integer(const CallView& call, std::size_t i);
std::optional<double> literal_number(const CallView& call, std::size_t i);

// The value of argument `i`, an integer scalar.
std::int64_t integer_value(const EvalCall& call, std::size_t i);
// A scalar's value as a tensor of rank 0, converted as astype does.
Tensor scalar_tensor(const ScalarValue& scalar, DType dtype);
// Appends the parameter for argument `i`, a scalar, and gives its value in `dtype`.
Scalar scalar_input(Lowering& lowering, std::size_t i, DType dtype);

}  // namespace relish

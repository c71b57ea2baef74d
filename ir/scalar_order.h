// A total order of scalar expressions by structure, and integer arithmetic as prim_funcs do it: what canonical forms
// and evaluation share.
#pragma once

#include <optional>

#include "ir/scalar.h"

namespace relish {

// Negative, zero or positive; zero when structurally equal. Variables are ordered by their making.
int compare_structure(const Scalar& a, const Scalar& b);

// The value modulo the width of an integer dtype.
std::int64_t wrap_to(DType dtype, std::int64_t value);
// One integer operation; nullopt for a division by zero or a negative shift.
std::optional<std::int64_t> fold_binary(BinaryOp op, DType dtype, std::int64_t a, std::int64_t b);
bool fold_compare(CompareOp op, DType dtype, std::int64_t a, std::int64_t b);

}  // namespace relish

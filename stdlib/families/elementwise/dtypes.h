// Rules of element types that operators share. There is no promotion: mixed dtypes are errors, except that a
// bool operand takes the dtype of the other when it stands on the right.
#pragma once

#include <optional>

#include "ir/operators/op.h"

namespace relish {

// Rejects by "dtype" unless argument `i` is a tensor of a floating dtype (or of unknown dtype).
void require_float(const CallView& call, std::size_t i);
// Rejects by "dtype" when argument `i` is a tensor of bool.
void require_number(const CallView& call, std::size_t i);
// Rejects by "dtype" when argument `i` is of a floating dtype, and of bool unless those count as one bit
// wide.
enum class Bools : std::uint8_t { Taken, Refused };
void require_integer(const CallView& call, std::size_t i, Bools bools);
// The dtype of argument `i`, a tensor or (for binary operators) a scalar; absent when unknown. Rejects
// anything else.
std::optional<DType> dtype_of_argument(const CallView& call, std::size_t i);
// The common dtype of arguments `i` and `j`: absent when either is unknown; of a number and a bool on its
// right, the number's. Rejects by "dtype".
std::optional<DType> common_dtype(const CallView& call, std::size_t i, std::size_t j);
// The attribute `name`, a dtype, its name, or None (also "void") for absent. Rejects unknown names by
// "dtype".
std::optional<DType> dtype_attribute(const CallView& call, std::string_view name);

}  // namespace relish

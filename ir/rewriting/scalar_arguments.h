// Scalars among the arguments of calls, as reading gives them.
#pragma once

#include "ir/scalars/symbols.h"

namespace relish {

// The call_tir with the parameter of the function for each size for which that stands: a text says both by
// one name. Other values stay.
Expr with_scalar_parameters(const Expr& value, const ScalarParameters& scalars);

}  // namespace relish

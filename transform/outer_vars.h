// The variables that the value of a binding takes from around it: those of bodies in it as far as they do not
// bind them themselves.
#pragma once

#include <vector>

#include "ir/nodes/expr.h"

namespace relish {

// In the order of the text; some more than once.
std::vector<Var> outer_vars(const Expr& value);

}  // namespace relish

// The rule that a symbolic dimension is used only where something before it has determined it.
#pragma once

#include "ir/nodes/expr.h"

namespace relish {

// Throws TypeError at the first dimension of the function's body that neither a parameter nor an R.match_cast
// before it determines: one of a branch, a loop or a nested function is unknown behind it.
void check_symbol_order(const Function& function);

}  // namespace relish

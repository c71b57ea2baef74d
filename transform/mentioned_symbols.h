// The sizes and other symbols that a binding speaks of: in its value, in the types of that and of its
// variable.
#pragma once

#include "ir/nodes/expr.h"
#include "ir/scalars/symbols.h"

namespace relish {

SymbolList mentioned_symbols(const Binding& binding);

}  // namespace relish

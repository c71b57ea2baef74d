// Removal of bindings that nothing uses and of private functions that nothing reaches.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

Module eliminate_dead_code(const Module& module);
// The same handle when all are used.
FunctionPtr eliminate_dead_bindings(const FunctionPtr& function);

}  // namespace relish

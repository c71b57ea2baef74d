// Direct calls of prim_funcs, as lowered modules have them: their destinations are arguments, which are
// written in place. The values of whoever calls the function from outside must not change by that.
#pragma once

#include <string_view>
#include <vector>

#include "ir/nodes/module.h"
#include "runtime/value.h"

namespace relish {

// Whether the function, or one that it reaches, calls a prim_func directly.
bool calls_directly(const Module& module, std::string_view name);
// The values with tensors of their own.
std::vector<Value> own_copies(std::vector<Value> values);

}  // namespace relish

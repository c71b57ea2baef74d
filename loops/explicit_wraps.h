// Integers that wrap around, as text that says so. Analyses and rules count indices, bounds of loops and
// sides of comparisons as numbers; behind this pass they may.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// The function with each sum, difference and product of signed integers that can leave its dtype, and whose
// number matters (it is compared, divided, converted, bounds a loop or has a name), in unsigned integers of
// the same width, and back. Computes the same. The handle that was given when nothing can.
PrimFuncPtr with_explicit_wraps(const PrimFuncPtr& function);
// All prim_funcs of the module.
Module with_explicit_wraps(const Module& module);

}  // namespace relish

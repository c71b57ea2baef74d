// The same computation in float64: floating parameters, constants, dtype attributes and casts of a function
// and of the prim_funcs that it calls become float64, and calls of other functions are inlined. For checks
// that need more digits than a model has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/nodes/module.h"
#include "runtime/value.h"

namespace relish {

// A module with the function of that name and its prim_funcs alone, widened; nothing when its meaning hangs
// on what cannot be widened: prim_funcs that see bits or call others, native calls, nested functions,
// written gradients, or a rule that refuses float64.
std::optional<Module> widened(const Module& module, std::string_view function);
// The value with its floating tensors in float64, as the widened function takes it.
Value widened(const Value& value);

}  // namespace relish

// Symbols that stand for parameters which are numbers. Each inlined call that takes such a parameter brings a
// symbol of its own for it: they have one name in a text, and are one when it is read.
#pragma once

#include <unordered_map>

#include "ir/nodes/module.h"

namespace relish {

// For every symbol of the function that stands for a parameter, but the first one (`first`, by parameter,
// where that is known): the first one.
ScalarMap joined_parameter_symbols(const Function& function,
                                   const std::unordered_map<std::uint64_t, ScalarVar>& first = {});
// The function with one symbol for each such parameter; the same handle when it has no more.
FunctionPtr with_parameter_symbols_joined(const FunctionPtr& function);

}  // namespace relish

// A function of another module in this one.
#pragma once

#include <string>

#include "ir/nodes/module.h"

namespace relish {

// The name by which `target` has the function of `from`: its own when it is the same function, else that of a
// copy, `wanted` or the next free name. What the function calls is inlined or copied beside it.
std::string import_function(Module& target, const Module& from, const Function& function,
                            std::string_view wanted);

}  // namespace relish

// Private prim_funcs that nothing calls any more.
#pragma once

#include <string>
#include <unordered_set>

#include "ir/nodes/module.h"

namespace relish {

// Removes those of these names that are private and that no function refers to.
void drop_unused(Module& module, const std::unordered_set<std::string>& names);

}  // namespace relish

// The step of a trainer whose sizes are known.
#pragma once

#include <map>
#include <string>

#include "ir/nodes/module.h"

namespace relish {

// Adds `step` once more with all that it calls in it, and numbers for the sizes of these names that its
// parameters' types have. Loops over numbers run faster than those over sizes that a call tells. Returns its
// name, like `step`; empty when the parameters have none of these sizes: nothing was added.
std::string add_sized_step(Module& module, const std::string& step,
                           const std::map<std::string, std::int64_t>& sizes);

}  // namespace relish

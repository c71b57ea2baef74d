// Which input made what is bound in the present state.
#pragma once

#include <map>
#include <string>

#include "shell/workspace/workspace.h"

namespace relish {

// The node of the log that bound each name to its present value; without names whose states are not held.
std::map<std::string, std::size_t> makers_of(const Workspace& workspace);

}  // namespace relish

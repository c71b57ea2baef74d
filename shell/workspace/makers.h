// Which input made what is bound in the present state.
#pragma once

#include <map>
#include <string>

#include "shell/workspace/workspace.h"

namespace relish {

// The node of the log that bound each name to the value that it has in the state `node`; without names whose
// states are not held.
std::map<std::string, std::size_t> makers_of(const Workspace& workspace, std::size_t node);
// In the present state.
inline std::map<std::string, std::size_t> makers_of(const Workspace& workspace) {
  return makers_of(workspace, workspace.log().present());
}

}  // namespace relish

// What a session tells of bindings of functions.
#pragma once

#include <optional>
#include <string>

#include "shell/workspace/workspace.h"

namespace relish {

// "y: R.Tensor((2,), dtype="float32")" of `M.main.y`; nothing for what is no binding of a function.
std::optional<std::string> type_of_binding(Workspace& workspace, const std::string& words);

}  // namespace relish

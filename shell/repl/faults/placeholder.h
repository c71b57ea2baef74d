// A value that stands for one of a type, of which nobody looks at the elements.
#pragma once

#include <optional>

#include "ir/nodes/type.h"
#include "shell/script/script_value.h"

namespace relish {

// Nothing for what is no tensor of known sizes, and for a large one.
std::optional<ScriptValue> placeholder_of(const Type& type);

}  // namespace relish

// Names that Python knows without an import and scripts do not have, and members of its values.
#pragma once

#include <string>
#include <string_view>

#include "shell/script/script_value.h"

namespace relish {

// "; write type(x) == \"int\"": the end of a message about such a name; empty for others.
std::string python_name_advice(std::string_view name);
// "; write len(xs)" for a member that a list, dict or str has elsewhere, and "; write d[\"a\"]" for one that
// is a key of the dict; empty for others.
std::string python_member_advice(const ScriptValue& value, std::string_view name);

}  // namespace relish

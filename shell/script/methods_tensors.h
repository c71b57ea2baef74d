// Reductions of tensors that are methods and built-ins both.
#pragma once

#include <string_view>

#include "shell/script/call_arguments.h"

namespace relish {

class Script;

// The operator of that name over the tensor, with axis and keepdims as they are given.
ScriptValue reduced(Script& script, std::string_view name, const ScriptValue& tensor,
                    CallArguments& arguments);
// Whether all, or any, of the elements are true, or not zero.
ScriptValue truth_over(Script& script, const ScriptValue& tensor, CallArguments& arguments, bool all);

}  // namespace relish

// Reductions of tensors that are methods and built-ins both.
#pragma once

#include <string_view>

#include "shell/script/call_arguments.h"

namespace relish {

class Script;

// Of a tensor of bools the same as int64, of anything else itself.
ScriptValue as_counted(Script& script, const ScriptValue& value, Span span);
// The operator of that name over the tensor, with axis and keepdims as they are given.
ScriptValue reduced(Script& script, std::string_view name, const ScriptValue& tensor,
                    CallArguments& arguments);
// The element at that place of all, as a number.
ScriptValue element_of(const Tensor& tensor, std::int64_t index);
// Whether all, or any, of the elements are true, or not zero.
ScriptValue truth_over(Script& script, const ScriptValue& tensor, CallArguments& arguments, bool all);

}  // namespace relish

// Types of operators' calls at top level, found without running them: for whoever looks at a statement before
// it runs. Of tensors among the arguments only the types count.
#pragma once

#include "shell/script/operator_call.h"

namespace relish {

// What the call gives; the Failure of one that is refused.
Type type_of_operator_call(const Op& op, const std::vector<NamedValue>& arguments, Span span);
// Of `a op b` where one of them is a tensor.
Type type_of_operator(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span);

}  // namespace relish

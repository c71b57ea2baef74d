// An operator call on values, by its reference evaluation: what the interpreter does, and what compiled code
// calls for the operators that are not lowered.
#pragma once

#include "ir/nodes/expr.h"
#include "runtime/value.h"

namespace relish {

// A leaf that has the type of `value`, for inference on what is really there; `written` where a value has no
// such leaf (text, functions).
Expr concrete_leaf(const Value& value, const Expr& written);
// The value of the call, whose operator has an evaluation: types are inferred from the values, and what only
// they show to be wrong is a RuntimeError at `span`. `of_text`: CallView::result_of_text.
Value evaluate_operator(const OpCall& call, const std::vector<Value>& args, Span span,
                        const Type* of_text = nullptr);

}  // namespace relish

// Calls of functions whose gradient the text gives stay calls, also where the types of such a function leave
// rank or sizes open, as of one that rounds tensors of any shape. What follows is to know more: the shape
// that the body gives for these arguments.
#pragma once

#include <functional>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/rewriting/rewrite.h"

namespace relish {

// The callee of a call that stays one for the sake of its gradient; null for other calls.
using CalleeWithGradient = std::function<FunctionPtr(const FunctionCall&)>;

// The bindings with an R.match_cast behind each such call of which less is known than its body tells, and
// with what follows of that for the types of other values. What became of variables is entered into `vars`.
std::vector<Binding> with_known_results(const std::vector<Binding>& bindings, const Module& module,
                                        const CalleeWithGradient& callee_of, FunctionBuilder& names,
                                        VarMap& vars);

}  // namespace relish

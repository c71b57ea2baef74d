// Inlining: calls of functions of the module become the bodies of those.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Calls of Relax functions of the module; private functions that nothing reaches any more go. A call stays
// when its function may come to call itself, when a user wrote the gradient of its function (inlined it would
// be lost), when an if or a loop would come into a dataflow block, and when the caller would grow beyond some
// 100,000 bindings, or all together by more than 300,000. Functions without such calls keep their handles.
Module inline_calls(const Module& module);

// The function with all calls inlined that inline_calls inlines.
FunctionPtr with_calls_inlined(const Module& module, const std::string& function);

// The same for compilation, of calls that are the only mention of their function in the module, stand outside
// of branches and loops, and hand over what the function says without sizes that are to be found out: so text
// does not grow, and calls are fused beyond where a function ended. Tuples that were handed over are taken
// apart; other bindings stay, also those that nobody uses.
Module with_single_calls_inlined(const Module& module);

// The same of functions that take or give functions alone, so that what they are handed is seen where it is
// called.
Module with_function_values_inlined(const Module& module);

}  // namespace relish

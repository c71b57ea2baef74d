// Calls, in branches and loops, of functions whose types hide dtypes or ranks: there is no pair of functions
// to differentiate them by, as for all their callers the types are others. They are inlined, as such calls
// beside branches and loops are.
#pragma once

#include <functional>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/rewriting/rewrite.h"

namespace relish {

// Whether what a function takes or gives has a type that tells neither dtype nor rank.
bool hides_types(const Function& function);

// The function that a call is to become the body of; null: the call stays.
using CalleeToInline = std::function<FunctionPtr(const FunctionCall&)>;

// The bindings of a body with these calls inlined, and with what follows of that for the types of other
// values. What became of variables is entered into `vars`. Functions of the bodies are of `module`.
std::vector<Binding> with_hidden_calls_inlined(const std::vector<Binding>& bindings, Module& module,
                                               const CalleeToInline& to_inline, FunctionBuilder& builder,
                                               VarMap& vars);

}  // namespace relish

// The gradient that an R.call_tir_with_grad names: a function of the module, in TVM's order: the cotangents
// of the results, the arguments, then the te_grad_kwargs by name. It gives one gradient for each tensor among
// the arguments. An R.function returns them; a prim_func stores them.
#pragma once

#include <vector>

#include "ir/nodes/builder.h"
#include "support/diagnostic.h"

namespace relish {

// Reports when there is no such function, or when it does not take what it is given.
void check_given_gradient(const Module& module, const CallTir& call, Span span, Diagnostics& diagnostics);
// Reports when the gradient that the user wrote for an operator or a native function does not take what this
// call gives, its result and the cotangent, or gives something else than a gradient for each argument.
void check_written(const std::vector<Expr>& inputs, const FunctionPtr& written, const Binding& binding,
                   Diagnostics& diagnostics);
// What each argument gets for the cotangent of the result (a tuple of them for several); undefined: nothing.
std::vector<Expr> given_partials(const Module& module, const CallTir& call, const Expr& cotangent,
                                 FunctionBuilder& builder);

}  // namespace relish

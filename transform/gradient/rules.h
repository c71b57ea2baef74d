// How the gradient pass meets the operators' rules: which bindings have one, and the partials of one call.
#pragma once

#include <unordered_set>
#include <vector>

#include "ir/nodes/builder.h"
#include "support/diagnostic.h"

namespace relish {

struct Partial {
  Expr value;  // unbound operator call or leaf, or a tuple literal of them; undefined: the argument gets
               // nothing
};

// Reports into `diagnostics` when the value of the binding stands on the gradient's path and cannot be
// differentiated.
void require_rule(const Binding& binding, const std::unordered_set<std::uint64_t>& varied,
                  Diagnostics& diagnostics);

// Applies the operator's rule. What the rule computes on the way is appended to `builder`; the last step of
// each partial is left unbound, so that the caller can bind it under the adjoint's name. `arrived`: by result
// of an operator that gives a tuple, whether its cotangent is more than zeros; empty: all.
std::vector<Partial> rule_partials(const OpCall& call, const Expr& value, const Var& result,
                                   const Expr& cotangent, FunctionBuilder& builder,
                                   std::vector<bool> arrived = {});

// What stands for the binding of a call on the way there: the bindings of its operator's parts, the last of
// which binds the same variable. Nothing where the operator has none.
std::vector<Binding> written_out(const Binding& binding, FunctionBuilder& builder);

// The call of a gradient that the user wrote: inputs, outputs and their cotangents go in. And what of it is
// for input `i`.
Expr call_of_written(const std::vector<Expr>& inputs, const FunctionPtr& written, const Var& output,
                     const Expr& cotangent, FunctionBuilder& builder);
Expr written_partial(const Expr& gradients, int i, const FunctionBuilder& builder);
// The partial as a value of the type of its input, where it tells less.
Expr shaped_as(const Expr& partial, const Type& type, FunctionBuilder& builder);
// The arguments of the call in the order of the parameters: a call has scalars and tensors each in order.
std::vector<Expr> inputs_in_order(const PrimFunc& function, const CallTir& call, Span span);

}  // namespace relish

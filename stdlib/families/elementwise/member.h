// Operators that are members of a family: a family has four rules that take a call and a Member, and an
// operator fixes the member.
#pragma once

#include "ir/operators/op.h"

namespace relish {

// `op` with the rules infer, evaluate, lower and vjp of the family in whose namespace the type of `member`
// is.
template <auto member>
constexpr Op member_of(Op op) {
  op.infer = [](const CallView& call) { return infer(call, member); };
  op.eval = [](const EvalCall& call) { return evaluate(call, member); };
  op.lower = [](const LowerCall& call) { return lower(call, member); };
  op.vjp = [](const VjpCall& call) { return vjp(call, member); };
  return op;
}

}  // namespace relish

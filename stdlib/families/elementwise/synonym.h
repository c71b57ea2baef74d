// Operators that are another one with some arguments fixed: every hook calls that of the other.
#pragma once

#include "ir/operators/op.h"

namespace relish {

// The call of the other operator that a call stands for; its result is the same.
struct Meaning {
  const Op* op;
  std::vector<Expr> args;
  Attributes attributes;
};
using MeaningFn = Meaning (*)(const CallView&);

namespace synonym {

template <MeaningFn meaning>
Type infer(const CallView& call) {
  const Meaning other = meaning(call);
  return other.op->infer(CallView{*other.op, other.args, other.attributes, call.span});
}

template <MeaningFn meaning>
Value evaluate(const EvalCall& c) {
  const Meaning other = meaning(c.call);
  const CallView view{*other.op, other.args, other.attributes, c.call.span};
  return other.op->eval(EvalCall{view, c.args, c.result_type});
}

template <MeaningFn meaning>
PrimFunc lower(const LowerCall& c) {
  const Meaning other = meaning(c.call);
  const CallView view{*other.op, other.args, other.attributes, c.call.span};
  return other.op->lower(LowerCall{view, c.result_type, c.name});
}

template <MeaningFn meaning>
std::vector<std::optional<Expr>> vjp(const VjpCall& c) {
  const Meaning other = meaning(c.call);
  const CallView view{*other.op, other.args, other.attributes, c.call.span};
  return other.op->vjp(VjpCall{view, c.result, c.cotangent, c.builder});
}

}  // namespace synonym

// `op` with its hooks, of which `infer` and `lower` may be its own: rules that name `op`'s parameters belong
// there.
template <MeaningFn meaning>
constexpr Op synonym_of(Op op) {
  if (!op.infer) op.infer = synonym::infer<meaning>;
  op.eval = synonym::evaluate<meaning>;
  if (!op.lower) op.lower = synonym::lower<meaning>;
  op.vjp = synonym::vjp<meaning>;
  return op;
}

}  // namespace relish

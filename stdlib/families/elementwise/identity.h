// Operators that give back their tensor: hints to passes and devices, which mean nothing to the numbers.
#pragma once

#include "stdlib/families/language/gradient.h"

namespace relish {

inline Type infer_identity(const CallView& call) { return call.tensor(0); }
inline Value evaluate_identity(const EvalCall& c) { return c.in(0); }
inline Partials vjp_identity(const VjpCall& c) {
  Partials partials(c.call.args.size());
  partials[0] = c.cotangent;
  return partials;
}

// Fills in the rules of `op`; its first parameter is the tensor.
constexpr Op identity_of_tensor(Op op) {
  if (!op.infer) op.infer = infer_identity;
  op.eval = evaluate_identity;
  op.vjp = vjp_identity;
  op.gradient_doc = "dx = g";
  op.agreement = Agreement::DataMovement;
  return op;
}

}  // namespace relish

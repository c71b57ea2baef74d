// The family of the negative log-likelihood and its gradient: the same operands and rules, one way of
// choosing the elements of the targets, for predictions of rank 1 to 4, with and without weights, in every
// reduction.
#pragma once

#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"

namespace relish::nll_loss {

// Positions of the operands: `first` is that of the predictions, followed by targets and, perhaps, weights.
struct Operands {
  std::size_t first;

  std::size_t predictions() const { return first; }
  std::size_t targets() const { return first + 1; }
  std::size_t weights() const { return first + 2; }
  bool weighted(const CallView& call) const { return call.has(weights()); }
};

// Checks dtypes, ranks and dims of predictions, targets and weights, and the reduction.
void check(const CallView& call, const Operands& operands);
// The loss's shape: that of the targets for reduction "none", else rank 0.
BroadcastShape loss_shape(const CallView& call, const Operands& operands);
// The evaluations, by the definition: the loss, and its gradient for the predictions with the cotangent
// `output_grad`. RuntimeError for a target that is neither a class nor ignore_index.
Value evaluate(const EvalCall& c, const Operands& operands);
Value evaluate_backward(const EvalCall& c, const Operands& operands, const Tensor& output_grad);
// The same as loop nests; the cotangent is the first operand. A target that is neither fails an assert.
PrimFunc lower(const LowerCall& c, const Operands& operands);
PrimFunc lower_backward(const LowerCall& c, const Operands& operands);
// The two attributes in declared order.
Attributes attributes_of(const CallView& call);
// The partial for the weights of loss(predictions, targets, weights) with cotangent g; `loss` is needed for
// "mean".
GraphValue weights_partial(const GradientRule& rule, const GraphValue& g, const GraphValue& predictions,
                           const GraphValue& targets, const GraphValue& weights, const GraphValue& loss);

}  // namespace relish::nll_loss

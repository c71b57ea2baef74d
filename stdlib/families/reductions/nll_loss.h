// What nn.nll_loss and its gradient have in common: the same operands, rules and body naming.
#pragma once

#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/language/gradient.h"

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
// "<prefix>_<rank>d[_weighted]_<reduction>", the function of the body for the operands' ranks.
std::string body_function(const CallView& call, const Operands& operands, std::string_view prefix);
// The evaluations, by the definition: the loss, and its gradient for the predictions with the cotangent
// `output_grad`. RuntimeError for a target that is neither a class nor ignore_index.
Value evaluate(const EvalCall& c, const Operands& operands);
Value evaluate_backward(const EvalCall& c, const Operands& operands, const Tensor& output_grad);
// The two attributes in declared order.
Attributes attributes_of(const CallView& call);
// The partial for the weights of loss(predictions, targets, weights) with cotangent g; `loss` is needed for
// "mean".
GraphValue weights_partial(const GradientRule& rule, const GraphValue& g, const GraphValue& predictions,
                           const GraphValue& targets, const GraphValue& weights, const GraphValue& loss);

}  // namespace relish::nll_loss

// Activation functions made of softplus: mish, and the logarithm of the sigmoid.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_nn_smooth_activations {
namespace {

constexpr Param params[] = {{"data", ParamKind::Tensor, "tensor", "", "input"}};
constexpr auto bent_samples = float_samples<" * 6.0 - 3.0">({"[0.5, 1.0, -1.0, 2.5]"});
constexpr std::string_view mish_aliases[] = {"mish"};
constexpr std::string_view log_sigmoid_aliases[] = {"nn.logsigmoid", "log_sigmoid", "logsigmoid"};

// log(1 + e^x) by the operator whose own slope does not overflow.
GraphValue mish_slope(const GraphValue& g, const GraphValue& x) {
  const GraphValue t = call_op("tanh", {call_op("log_add_exp", {x, constant_like(x, 0)})});
  return g * (t + x * call_op("sigmoid", {x}) * (constant_like(x, 1) - t * t));
}

}  // namespace

extern const Op op_nn_mish = elementwise_unary(
    {.name = "nn.mish",
     .summary = "x * tanh(log(1 + e^x)) of each element.",
     .params = params,
     .gradient_doc = "ddata = g * (t + data * sigmoid(data) * (1 - t * t)), t = tanh(log(1 + e^data))",
     .agreement = Agreement::Composite,
     .samples = bent_samples,
     .rejects = float_rejects<"mish">,
     .aliases = mish_aliases,
     .doc = "Floating dtypes only. Of -inf it is NaN, as in PyTorch."},
    [](const auto& x) { return x * tanh(log1p(exp(x))); },
    [](const auto& g, const auto& x, const auto&) { return mish_slope(g, x); });

extern const Op op_nn_log_sigmoid = elementwise_unary(
    {.name = "nn.log_sigmoid",
     .summary = "Logarithm of the sigmoid of each element: -log(1 + e^-x).",
     .params = params,
     .gradient_doc = "ddata = g * sigmoid(-data)",
     .agreement = Agreement::Composite,
     .samples = bent_samples,
     .rejects = float_rejects<"log_sigmoid">,
     .aliases = log_sigmoid_aliases,
     .doc =
         "Floating dtypes only. Computed with log1p of e to the minus magnitude, so that nothing overflows and "
         "small values are not lost."},
    [](const auto& x) { return minimum_ieee(x, constant_like(x, 0)) - log1p(exp(negate(magnitude(x)))); },
    [](const auto& g, const auto& x, const auto&) { return g * call_op("sigmoid", {-x}); });

}  // namespace relish::ops_nn_smooth_activations

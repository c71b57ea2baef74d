// Activation functions without parameters.
#include <numbers>

#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_nn_activations {
namespace {

constexpr Param params[] = {{"data", ParamKind::Tensor, "tensor", "", "input"}};
constexpr Sample relu6_samples[] = {
    {"[-1.5, 2.5, 6.5, 5.75]", "[0.0, 2.5, 6.0, 5.75]"},
    {"R.const([-128, 5, 127], \"int8\")", "[0, 5, 6]", false},
    {"rand((2, 3, 4), \"float64\") * 1.5 + 5.25"},
    {"rand((0, 3), \"float32\")"},
    {"rand((), \"float32\") - 1.5"},
    {"rand((17,), \"float32\") + 0.05"},
};
constexpr Reject relu6_rejects[] = {{"relu6.dtype", "R.const([True], \"bool\")", "expected numbers"}};
constexpr auto smooth_samples = float_samples<" * 6.0 - 3.0">({"[0.0, 1.0, -1.0, 2.5]"});
constexpr auto selu_samples = float_samples<" * 3.0 + 0.05">({"[0.5, 1.0, -1.0, -2.5]"});
constexpr std::string_view silu_aliases[] = {"nn.swish"};

constexpr double tanh_factor = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double tanh_cubic = 0.044715;
constexpr double selu_scale = 1.0507009873554804934193349852946;
constexpr double selu_alpha = 1.6732632423543772848170429916717;

// 0.5 * (1 + erf(x / sqrt(2))), the normal distribution function.
template <class T>
T normal_cdf(const T& x) {
  return constant_like(x, 0.5) * (constant_like(x, 1) + erf(x * constant_like(x, std::numbers::sqrt2 / 2)));
}
// tanh of the argument of the approximation, for values and for graphs.
GraphValue gelu_tanh_inner(const GraphValue& x) {
  const GraphValue cubic = constant_like(x, tanh_cubic) * x * x;
  return call_op("tanh", {constant_like(x, tanh_factor) * x * (constant_like(x, 1) + cubic)});
}

GraphValue gelu_slope(const GraphValue& g, const GraphValue& x) {
  const GraphValue half = constant_like(x, 0.5);
  const GraphValue below =
      half * (constant_like(x, 1) + call_op("erf", {x * constant_like(x, std::numbers::sqrt2 / 2)}));
  const GraphValue density = constant_like(x, std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2) *
                             call_op("exp", {-(half * x * x)});
  return g * (below + x * density);
}
// Beyond 32 the tanh is 1 and the slope constant; powers of a larger x would only overflow beside its zeros.
GraphValue gelu_tanh_slope(const GraphValue& g, const GraphValue& data) {
  const GraphValue x =
      call_op("maximum", {call_op("minimum", {data, constant_like(data, 32)}), constant_like(data, -32)});
  x.leaf();
  const GraphValue half = constant_like(x, 0.5), one = constant_like(x, 1), t = gelu_tanh_inner(x);
  const GraphValue inner_slope =
      constant_like(x, tanh_factor) * (one + constant_like(x, 3 * tanh_cubic) * x * x);
  return g * (half * (one + t) + half * x * (one - t * t) * inner_slope);
}
GraphValue selu_slope(const GraphValue& g, const GraphValue& x) {
  const GraphValue none = constant_like(x, 0);
  const GraphValue falling =
      constant_like(x, selu_scale * selu_alpha) * call_op("exp", {call_op("minimum", {x, none})});
  return g * where(call_op("greater", {x, none}), constant_like(x, selu_scale), falling);
}

}  // namespace

extern const Op op_nn_relu6 = elementwise_unary<elementwise::Domain::Numbers>(
    {.name = "nn.relu6",
     .summary = "Each element limited to [0, 6].",
     .params = params,
     .gradient_doc = "ddata = g where 0 < data < 6, else 0",
     .samples = relu6_samples,
     .rejects = relu6_rejects,
     .doc = "NaN propagates. The slopes at 0 and at 6 are 0. TVM writes it as clip(data, 0, 6)."},
    [](const auto& x) { return maximum_ieee(minimum_ieee(x, constant_like(x, 6)), constant_like(x, 0)); },
    [](const auto& g, const auto& x, const auto&) {
      const GraphValue inside = call_op("logical_and", {call_op("greater", {x, constant_like(x, 0)}),
                                                        call_op("less", {x, constant_like(x, 6)})});
      return where(inside, g, constant_like(g, 0));
    });

extern const Op op_nn_gelu = elementwise_unary(
    {.name = "nn.gelu",
     .summary = "Gaussian error linear unit: 0.5 * x * (1 + erf(x / sqrt(2))).",
     .params = params,
     .gradient_doc = "ddata = g * (cdf(data) + data * density(data)) of the normal distribution",
     .agreement = Agreement::Composite,
     .samples = smooth_samples,
     .rejects = float_rejects<"gelu">,
     .doc = "Floating dtypes only. Far below 0 the sum 1 + erf cancels, so small results are exact to the "
            "last places of x, not to their own."},
    [](const auto& x) { return x * normal_cdf(x); },
    [](const auto& g, const auto& x, const auto&) { return gelu_slope(g, x); });

extern const Op op_nn_gelu_tanh = elementwise_unary(
    {.name = "nn.gelu_tanh",
     .summary = "Approximation of gelu: 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).",
     .params = params,
     .gradient_doc = "ddata = g * (0.5 * (1 + t) + 0.5 * data * (1 - t * t) * u), t the tanh, u the slope of "
                     "its argument, all at data limited to [-32, 32]",
     .agreement = Agreement::Composite,
     .samples = smooth_samples,
     .rejects = float_rejects<"gelu_tanh">,
     .doc = "Floating dtypes only."},
    [](const auto& x) {
      const auto one = constant_like(x, 1);
      const auto inner = constant_like(x, tanh_factor) * x * (one + constant_like(x, tanh_cubic) * x * x);
      return constant_like(x, 0.5) * x * (one + tanh(inner));
    },
    [](const auto& g, const auto& x, const auto&) { return gelu_tanh_slope(g, x); });

extern const Op op_nn_silu = elementwise_unary(
    {.name = "nn.silu",
     .summary = "Each element times its sigmoid.",
     .params = params,
     .gradient_doc = "ddata = g * (s + y * (1 - s)), s = sigmoid(data)",
     .agreement = Agreement::Composite,
     .samples = smooth_samples,
     .rejects = float_rejects<"silu">,
     .aliases = silu_aliases,
     .doc = "Floating dtypes only. Of -inf it is NaN, as in PyTorch."},
    [](const auto& x) { return x * sigmoid(x); },
    [](const auto& g, const auto& x, const auto& y) {
      const GraphValue s = call_op("sigmoid", {x});
      return g * (s + y * (constant_like(x, 1) - s));
    });

extern const Op op_nn_selu = elementwise_unary(
    {.name = "nn.selu",
     .summary = "Scaled exponential linear unit: scale * (x if x > 0 else alpha * (e^x - 1)).",
     .params = params,
     .gradient_doc = "ddata = g * (scale where data > 0, else scale * alpha * e^data)",
     .agreement = Agreement::Composite,
     .samples = selu_samples,
     .rejects = float_rejects<"selu">,
     .doc = "Floating dtypes only; scale = 1.0507009873554805, alpha = 1.6732632423543772. The slope at 0 is "
            "scale * alpha."},
    [](const auto& x) {
      const auto none = constant_like(x, 0);
      const auto falling = constant_like(x, selu_alpha) * expm1(x);
      return constant_like(x, selu_scale) * choose(x > none, x, falling);
    },
    [](const auto& g, const auto& x, const auto&) { return selu_slope(g, x); });

}  // namespace relish::ops_nn_activations

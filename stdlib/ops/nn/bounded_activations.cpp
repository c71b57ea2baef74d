// Activation functions of straight pieces: hardtanh, hardsigmoid, hardswish; and softsign, which bends
// smoothly.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_nn_bounded_activations {
namespace {

constexpr Param params[] = {{"data", ParamKind::Tensor, "tensor", "", "input"}};
constexpr Param hardtanh_params[] = {{"data", ParamKind::Tensor, "tensor", "", "input"},
                                     {"min_val", ParamKind::Attribute, "float", "-1.0", "the lower bound"},
                                     {"max_val", ParamKind::Attribute, "float", "1.0", "the upper bound"}};

struct Bounds {
  double low, high;
  explicit Bounds(const CallView& call)
      : low(*call.attribute("min_val").as<double>()), high(*call.attribute("max_val").as<double>()) {
    if (!(low < high)) call.reject("bounds", call.span, "min_val is not below max_val");
  }
};

constexpr Sample hardtanh_samples[] = {
    {"[-1.5, 0.25, 2.0]", "[-1.0, 0.25, 1.0]"},
    {"[-1.5, 0.25, 2.0], min_val=-2, max_val=0.5", "[-1.5, 0.25, 0.5]"},
    {"rand((2, 3, 4), \"float64\") * 0.5 + 0.75"},
    {"rand((0, 3), \"float32\")"},
    {"rand((), \"float32\") + 1.5"},
    {"rand((17,), \"float32\") * 0.9, max_val=2.0"},
};
constexpr Reject hardtanh_rejects[] = {
    {"hardtanh.dtype", "R.const([1, 2], \"int32\")", "expected a floating dtype"},
    {"hardtanh.bounds", "[1.0], min_val=1.0, max_val=1.0", "is not below"}};
constexpr auto hard_samples = float_samples<" * 2.5">({"[-4.0, -1.5, 0.0, 1.5, 4.0]"});
constexpr auto softsign_samples = float_samples<" * 4.0 + 0.05">({"[-3.0, 1.0]", "[-0.75, 0.5]"});
constexpr std::string_view hardtanh_aliases[] = {"hardtanh"};
constexpr std::string_view hardsigmoid_aliases[] = {"nn.hard_sigmoid", "hardsigmoid"};
constexpr std::string_view hardswish_aliases[] = {"nn.hard_swish", "hardswish"};
constexpr std::string_view softsign_aliases[] = {"softsign"};

// x + 3 limited to [0, 6].
template <class T>
T ramp(const T& x) {
  const T shifted = x + constant_like(x, 3);
  return maximum_ieee(minimum_ieee(shifted, constant_like(x, 6)), constant_like(x, 0));
}
GraphValue is_between(const GraphValue& x, double low, double high) {
  return call_op("logical_and", {call_op("greater", {x, constant_like(x, low)}),
                                 call_op("less", {x, constant_like(x, high)})});
}

}  // namespace

extern const Op op_nn_hardtanh = elementwise_unary<elementwise::Domain::Floats, Bounds>(
    {.name = "nn.hardtanh",
     .summary = "Each element limited to [min_val, max_val].",
     .params = hardtanh_params,
     .gradient_doc = "ddata = g where min_val < data < max_val, else 0",
     .samples = hardtanh_samples,
     .rejects = hardtanh_rejects,
     .aliases = hardtanh_aliases,
     .doc = "Floating dtypes only. NaN propagates. The slopes at the bounds are 0; R.clip has 1 there."},
    [](const auto& x, const Bounds& s) {
      return maximum_ieee(minimum_ieee(x, constant_like(x, s.high)), constant_like(x, s.low));
    },
    [](const auto& g, const auto& x, const auto&, const Bounds& s) {
      return where(is_between(x, s.low, s.high), g, constant_like(g, 0));
    });

extern const Op op_nn_hardsigmoid = elementwise_unary(
    {.name = "nn.hardsigmoid",
     .summary = "(x + 3) / 6 limited to [0, 1].",
     .params = params,
     .gradient_doc = "ddata = g / 6 where -3 < data < 3, else 0",
     .agreement = Agreement::Composite,
     .samples = hard_samples,
     .rejects = float_rejects<"hardsigmoid">,
     .aliases = hardsigmoid_aliases,
     .doc = "Floating dtypes only. The slopes at -3 and 3 are 0."},
    [](const auto& x) { return ramp(x) / constant_like(x, 6); },
    [](const auto& g, const auto& x, const auto&) {
      return where(is_between(x, -3, 3), g / constant_like(g, 6), constant_like(g, 0));
    });

extern const Op op_nn_hardswish = elementwise_unary(
    {.name = "nn.hardswish",
     .summary = "x times (x + 3) / 6 limited to [0, 1].",
     .params = params,
     .gradient_doc = "ddata = 0 below -3, g * (data / 3 + 0.5) up to 3, g above",
     .agreement = Agreement::Composite,
     .samples = hard_samples,
     .rejects = float_rejects<"hardswish">,
     .aliases = hardswish_aliases,
     .doc = "Floating dtypes only. The slopes at -3 and 3 are 0 and 1."},
    [](const auto& x) { return x * ramp(x) / constant_like(x, 6); },
    [](const auto& g, const auto& x, const auto&) {
      const GraphValue bent = x / constant_like(x, 3) + constant_like(x, 0.5);
      const GraphValue below = where(is_between(x, -3, 3), bent, constant_like(x, 0));
      return g * where(call_op("greater_equal", {x, constant_like(x, 3)}), constant_like(x, 1), below);
    });

extern const Op op_nn_softsign = elementwise_unary(
    {.name = "nn.softsign",
     .summary = "x / (1 + |x|) of each element.",
     .params = params,
     .gradient_doc = "ddata = g / (1 + |data|)^2",
     .agreement = Agreement::Composite,
     .samples = softsign_samples,
     .rejects = float_rejects<"softsign">,
     .aliases = softsign_aliases,
     .doc = "Floating dtypes only; of infinities it is NaN, as in PyTorch."},
    [](const auto& x) { return x / (constant_like(x, 1) + magnitude(x)); },
    [](const auto& g, const auto& x, const auto&) {
      const GraphValue below = constant_like(x, 1) + call_op("abs", {x});
      return g / (below * below);
    });

}  // namespace relish::ops_nn_bounded_activations

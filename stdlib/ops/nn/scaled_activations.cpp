// Activation functions with parameters: the leaky rectifier and softplus.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_nn_scaled_activations {
namespace {

constexpr Param leakyrelu_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"alpha", ParamKind::Attribute, "float", "0.01", "slope of what is not positive"}};
constexpr Param softplus_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"beta", ParamKind::Attribute, "float", "1.0", "sharpness of the bend; not 0"},
    {"threshold", ParamKind::Attribute, "float", "20.0", "beta * x above which the function is x itself"}};

struct LeakyRelu {
  double alpha;
  explicit LeakyRelu(const CallView& call) : alpha(*call.attribute("alpha").as<double>()) {}
};
struct Softplus {
  double beta, threshold;
  explicit Softplus(const CallView& call)
      : beta(*call.attribute("beta").as<double>()), threshold(*call.attribute("threshold").as<double>()) {
    if (beta == 0) call.reject("beta", call.span, "beta is 0");
  }
};

constexpr Sample leakyrelu_samples[] = {
    {"[-2.0, 3.0, 0.5], alpha=0.25", "[-0.5, 3.0, 0.5]"},
    {"[-2.0, 3.0], -1", "[2.0, 3.0]"},
    {"rand((2, 3, 4), \"float64\") + 0.05"},
    {"rand((0, 3), \"float32\"), alpha=0.5"},
    {"rand((), \"float32\") - 1.5"},
    {"rand((17,), \"float32\") - 1.25, alpha=0.0"},
};
constexpr Sample softplus_samples[] = {
    {"[0.0, 1.0, -1.0, 2.5]"},
    {"[0.0, 1.0, -1.0, 2.5], beta=2.0", ""},
    {"[1.0, 2.5, -3.0], beta=3.0, threshold=2.0", ""},
    {"[[30.0, -30.0]], threshold=25"},
    {"rand((2, 3, 4), \"float64\") * 6.0 - 3.0"},
    {"rand((0, 3), \"float32\")"},
    {"rand((), \"float32\")"},
    {"rand((17,), \"float32\") * 6.0, beta=0.5"},
};
constexpr Reject leakyrelu_rejects[] = {
    {"leakyrelu.dtype", "R.const([1, 2], \"int32\")", "expected a floating dtype"},
    {"leakyrelu.alpha", "[1.0], alpha=\"big\"", "expected float"},
    {"leakyrelu.alpha", "R.const([1.0], \"float32\"), alpha=1e39", "which float32 does not hold"}};
constexpr Reject softplus_rejects[] = {
    {"softplus.dtype", "R.const([1, 2], \"int32\")", "expected a floating dtype"},
    {"softplus.beta", "[1.0], beta=0", "beta is 0"}};
constexpr std::string_view leakyrelu_aliases[] = {"nn.leaky_relu"};

}  // namespace

extern const Op op_nn_leakyrelu = elementwise_unary<elementwise::Domain::Floats, LeakyRelu>(
    {.name = "nn.leakyrelu",
     .summary = "Each element where it is positive, else alpha times it.",
     .params = leakyrelu_params,
     .gradient_doc = "ddata = g where data > 0, else alpha * g",
     .samples = leakyrelu_samples,
     .rejects = leakyrelu_rejects,
     .aliases = leakyrelu_aliases,
     .doc = "Floating dtypes only. The slope at 0 is alpha."},
    [](const auto& x, const LeakyRelu& s) {
      return choose(x > constant_like(x, 0), x, constant_like(x, s.alpha) * x);
    },
    [](const auto& g, const auto& x, const auto&, const LeakyRelu& s) {
      return where(call_op("greater", {x, constant_like(x, 0)}), g, constant_like(g, s.alpha) * g);
    });

extern const Op op_nn_softplus = elementwise_unary<elementwise::Domain::Floats, Softplus>(
    {.name = "nn.softplus",
     .summary = "log(1 + e^(beta * x)) / beta, a smooth rectifier.",
     .params = softplus_params,
     .gradient_doc = "ddata = g where beta * data > threshold, else g * sigmoid(beta * data)",
     .agreement = Agreement::Composite,
     .samples = softplus_samples,
     .rejects = softplus_rejects,
     .doc = "Floating dtypes only. Computed with log1p, so that small values are not lost. Where beta * x is "
            "above the threshold it is x itself."},
    [](const auto& x, const Softplus& s) {
      const auto beta = constant_like(x, s.beta), scaled = x * beta;
      return choose(scaled > constant_like(x, s.threshold), x, log1p(exp(scaled)) / beta);
    },
    [](const auto& g, const auto& x, const auto&, const Softplus& s) {
      const GraphValue scaled = x * constant_like(x, s.beta);
      const GraphValue linear = call_op("greater", {scaled, constant_like(x, s.threshold)});
      return where(linear, g, g * call_op("sigmoid", {scaled}));
    });

}  // namespace relish::ops_nn_scaled_activations

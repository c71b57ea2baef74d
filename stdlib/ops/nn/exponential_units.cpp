// Activation functions that fall exponentially towards a bound: elu and celu.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_nn_exponential_units {
namespace {

constexpr Param elu_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"alpha", ParamKind::Attribute, "float", "1.0", "minus the bound from below"}};
constexpr Param celu_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"alpha", ParamKind::Attribute, "float", "1.0", "minus the bound from below; not 0"}};

struct Elu {
  double alpha;
  explicit Elu(const CallView& call) : alpha(*call.attribute("alpha").as<double>()) {}
};
struct Celu {
  double alpha;
  explicit Celu(const CallView& call) : alpha(*call.attribute("alpha").as<double>()) {
    if (alpha == 0) call.reject("alpha", call.span, "alpha is 0");
  }
};

// Numbers beside 0 from both sides, where the slope jumps.
constexpr Sample elu_samples[] = {
    {"[1.0, -1.0, 2.5, -0.5], alpha=0.5", "[1.0, -0.31606027941427883, 2.5, -0.1967346701436833]"},
    {"[1.5, -1.5]"},
    {"rand((2, 3, 4), \"float64\") * 3.0 + 0.05"},
    {"rand((0, 3), \"float32\"), alpha=0.5"},
    {"rand((), \"float32\") - 1.5, alpha=2.0"},
    {"rand((17,), \"float32\") - 1.25"},
};
constexpr Sample celu_samples[] = {
    {"[1.0, -1.0, 2.5, -0.5], alpha=0.5", "[1.0, -0.43233235838169365, 2.5, -0.31606027941427883]"},
    {"[1.5, -1.5]"},
    {"rand((2, 3, 4), \"float64\") * 3.0 + 0.05"},
    {"rand((0, 3), \"float32\"), alpha=0.5"},
    {"rand((), \"float32\") - 1.5, alpha=2.0"},
    {"rand((17,), \"float32\") - 1.25"},
};
constexpr Reject celu_rejects[] = {{"celu.dtype", "R.const([1, 2], \"int32\")", "expected a floating dtype"},
                                   {"celu.alpha", "[1.0], alpha=0", "alpha is 0"}};
constexpr std::string_view elu_aliases[] = {"elu"};
constexpr std::string_view celu_aliases[] = {"celu"};

// Only where it falls is the exponential taken, so that it never overflows.
GraphValue falling_part(const GraphValue& x) { return call_op("minimum", {x, constant_like(x, 0)}); }
GraphValue is_rising(const GraphValue& x) { return call_op("greater", {x, constant_like(x, 0)}); }

}  // namespace

extern const Op op_nn_elu = elementwise_unary<elementwise::Domain::Floats, Elu>(
    {.name = "nn.elu",
     .summary = "Exponential linear unit: x where it is positive, else alpha * (e^x - 1).",
     .params = elu_params,
     .gradient_doc = "ddata = g where data > 0, else g * alpha * e^data",
     .agreement = Agreement::Composite,
     .samples = elu_samples,
     .rejects = float_rejects<"elu">,
     .aliases = elu_aliases,
     .doc = "Floating dtypes only. The slope at 0 is alpha."},
    [](const auto& x, const Elu& s) {
      return choose(x > constant_like(x, 0), x, constant_like(x, s.alpha) * expm1(x));
    },
    [](const auto& g, const auto& x, const auto&, const Elu& s) {
      return g * where(is_rising(x), constant_like(x, 1),
                       constant_like(x, s.alpha) * call_op("exp", {falling_part(x)}));
    });

extern const Op op_nn_celu = elementwise_unary<elementwise::Domain::Floats, Celu>(
    {.name = "nn.celu",
     .summary =
         "Exponential linear unit without a bend at 0: x where it is positive, else alpha * (e^(x / alpha) - 1).",
     .params = celu_params,
     .gradient_doc = "ddata = g where data > 0, else g * e^(data / alpha)",
     .agreement = Agreement::Composite,
     .samples = celu_samples,
     .rejects = celu_rejects,
     .aliases = celu_aliases,
     .doc = "Floating dtypes only. The slope at 0 is 1 for every alpha."},
    [](const auto& x, const Celu& s) {
      const auto alpha = constant_like(x, s.alpha);
      return choose(x > constant_like(x, 0), x, alpha * expm1(x / alpha));
    },
    [](const auto& g, const auto& x, const auto&, const Celu& s) {
      const GraphValue scaled = falling_part(x) / constant_like(x, s.alpha);
      return g * where(is_rising(x), constant_like(x, 1), call_op("exp", {scaled}));
    });

}  // namespace relish::ops_nn_exponential_units

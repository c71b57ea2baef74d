// Softmax.
#include "stdlib/families/reductions/softmax.h"

namespace relish::ops_nn_softmax {
namespace {

Value evaluate(const EvalCall& c) {
  return softmax::evaluate(c, [](double shifted, double total) { return std::exp(shifted) / total; });
}

PrimFunc lower(const LowerCall& c) {
  return softmax::lower(c, "softmax", softmax::Takes::Exponential,
                        [](const Scalar& exponential, const Scalar& total) { return exponential / total; });
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent(), y = rule.result();
  const GraphValue total =
      call_op("sum", {g * y}, {{"axis", attribute_of({c.call.int_attribute("axis")})}, {"keepdims", true}});
  return {((g - total) * y).expr()};
}

constexpr Sample samples[] = {
    {"[[0.0, 0.0], [1.0, 3.0]]", "[[0.5, 0.5], [0.11920292202211755, 0.8807970779778823]]"},
    {"[1000.0, 1000.0, -1000.0]", "[0.5, 0.5, 0.0]", false},
    {"[[0.0, 0.0], [1.0, 3.0]], axis=0",
     "[[0.2689414213699951, 0.04742587317756678], [0.7310585786300049, 0.9525741268224334]]"},
    {"rand((2, 3, 4), \"float64\"), axis=1"},
    {"rand((2, 3, 4), \"float32\"), axis=-3"},
    {"rand((0, 3), \"float32\")"},
    {"rand((3, 1), \"float64\")"},
};
constexpr Reject rejects[] = {
    {"softmax.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"softmax.dtype", "R.const([1, 2], \"int32\")", "expected a floating dtype"},
};

}  // namespace

extern const Op op_nn_softmax{
    .name = "nn.softmax",
    .summary = "Exponentials along a dimension, divided by their sum.",
    .params = softmax_params,
    .infer = softmax::infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "ddata = (g - sum(g * y, axis, keepdims=True)) * y",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "exp(x - m) / sum(exp(x - m)) with m the largest x of the line, so that large inputs do not "
        "overflow. A line with NaN, +inf, or of -inf only, is NaN."};

}  // namespace relish::ops_nn_softmax

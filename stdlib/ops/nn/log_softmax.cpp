// The logarithm of softmax.
#include "stdlib/families/reductions/softmax.h"

namespace relish::ops_nn_log_softmax {
namespace {

Value evaluate(const EvalCall& c) {
  return softmax::evaluate(c, [](double shifted, double total) { return shifted - std::log(total); });
}

PrimFunc lower(const LowerCall& c) {
  return softmax::lower(c, "log_softmax", softmax::Takes::Shifted,
                        [](const Scalar& shifted, const Scalar& total) { return shifted - log(total); });
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  const GraphValue total =
      call_op("sum", {g}, {{"axis", attribute_of({c.call.int_attribute("axis")})}, {"keepdims", true}});
  total.leaf();
  return {(g - total * call_op("exp", {rule.result()})).expr()};
}

constexpr Sample samples[] = {
    {"[[0.0, 0.0], [1.0, 3.0]]",
     "[[-0.6931471805599453, -0.6931471805599453], [-2.1269280110429727, -0.12692801104297263]]"},
    {"[1000.0, 1000.0]", "[-0.6931471805599453, -0.6931471805599453]"},
    {"[[0.0, 0.0], [1.0, 3.0]], axis=0",
     "[[-1.3132616875182228, -3.048587351573742], [-0.31326168751822286, -0.04858735157374196]]"},
    {"rand((2, 3, 4), \"float64\"), axis=1"},
    {"rand((2, 3, 4), \"float32\"), axis=-3"},
    {"rand((0, 3), \"float32\")"},
    {"rand((3, 1), \"float64\")"},
};
constexpr Reject rejects[] = {
    {"log_softmax.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"log_softmax.dtype", "R.const([1, 2], \"int32\")", "expected a floating dtype"},
};

}  // namespace

extern const Op op_nn_log_softmax{.name = "nn.log_softmax",
                                  .summary = "Logarithm of softmax along a dimension.",
                                  .params = softmax_params,
                                  .infer = softmax::infer,
                                  .eval = evaluate,
                                  .lower = lower,
                                  .vjp = vjp,
                                  .gradient_doc = "ddata = g - sum(g, axis, keepdims=True) * exp(y)",
                                  .agreement = Agreement::Composite,
                                  .samples = samples,
                                  .rejects = rejects,
                                  .doc =
                                      "x - m - log(sum(exp(x - m))) with m the largest x of the line, so "
                                      "that large inputs do not overflow. A line "
                                      "with NaN, +inf, or of -inf only, is NaN."};

}  // namespace relish::ops_nn_log_softmax

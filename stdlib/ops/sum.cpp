// Sums over axes.
#include "stdlib/families/reductions/reduction.h"

namespace relish::ops_sum {
namespace {

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  Tensor result = reduction::empty_result(c, axes);
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    T* target = result.mutable_view<T>().data();
    for (const Sum<T>& total : reduction::sums<T>(x, axes)) *target++ = from_sum<T>(total);
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const reduction::ReducedLoops loops = reduction::loops_of(c, x);
  if (is_bool(x.dtype())) {
    lowering.reduce(
        "sum", result, loops.spatial, loops.reduce,
        [&](const Dims& s, const Dims& r) { return lowering.loops().load(x, loops.input_index(s, r)); },
        [](const Scalar& held, const Scalar& next) { return logical(LogicalOp::Or, held, next); },
        bool_literal(false));
    return lowering.finish();
  }
  const DType wide = compute_dtype(x.dtype());
  const Buffer total = wide == x.dtype() ? result : lowering.temporary("total", loops.spatial, wide);
  lowering.reduce("sum", total, loops.spatial, loops.reduce, [&](const Dims& s, const Dims& r) {
    return lowering.load_as(wide, x, loops.input_index(s, r));
  });
  if (!(total == result)) {
    lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  }
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = reduction::with_reduced_axes(rule, rule.cotangent());
  return {call_op("broadcast_to", {g, rule.shape(0)}).expr()};
}

constexpr Sample samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "21.0"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], axis=0", "[5.0, 7.0, 9.0]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], axis=-1, keepdims=True", "[[6.0], [15.0]]"},
    {"rand((2, 3, 4), \"float64\"), axis=[0, -1]"},
    {"rand((2, 0, 3), \"float32\"), axis=1"},
    {"rand((1, 5, 1), \"float32\"), axis=[0, 2]"},
    {"rand((), \"float64\")"},
    {"R.const([[True, True], [False, False]], \"bool\"), axis=1", "R.const([True, False], \"bool\")"},
};
constexpr Reject rejects[] = {
    {"sum.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"sum.tensor", "R.shape([2])", "expected a tensor"},
};

}  // namespace

extern const Op op_sum{.name = "sum",
                       .summary = "Sum over axes.",
                       .params = reduction_params,
                       .infer = reduction::infer_of_all,
                       .eval = evaluate,
                       .lower = lower,
                       .vjp = vjp,
                       .gradient_doc = "dx = broadcast_to(g with the reduced axes as 1, shape of x)",
                       .agreement = Agreement::Sum,
                       .samples = samples,
                       .rejects = rejects,
                       .doc =
                           "The dtype is kept; integers wrap around, and bools give whether one of them is "
                           "true. The sum of nothing is 0. The "
                           "interpreter accumulates floats in "
                           "float64; a lowered sum accumulates in the dtype, 16-bit floats in float32."};

}  // namespace relish::ops_sum

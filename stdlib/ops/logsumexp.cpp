// The logarithm of a sum of exponentials over axes.
#include "stdlib/families/reductions/reduction.h"

namespace relish::ops_logsumexp {
namespace {

// What is taken off before the exponentials: the largest element, or 0 where that is infinite.
template <class T>
T shift_of(const T& largest) {
  return choose(is_finite_number(largest), largest, constant_like(largest, 0));
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  Tensor result = reduction::empty_result(c, axes);
  visit_float(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const auto largest = reduction::fold<T>(x, x.shape(), axes, -std::numeric_limits<double>::infinity(),
                                            [](double held, T each, std::size_t) {
                                              return maximum_ieee(held, static_cast<double>(to_sum(each)));
                                            });
    const auto total = reduction::fold<T>(x, x.shape(), axes, 0.0, [&](double held, T each, std::size_t at) {
      return held + std::exp(static_cast<double>(to_sum(each)) - shift_of(largest[at]));
    });
    T* target = result.mutable_view<T>().data();
    for (std::size_t i = 0; i < total.size(); ++i) *target++ = T(shift_of(largest[i]) + std::log(total[i]));
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const reduction::ReducedLoops loops = reduction::loops_of(c, x);
  const DType wide = compute_dtype(x.dtype());
  const Buffer largest = lowering.temporary("largest", loops.spatial, wide);
  const auto element = [&](const Dims& s, const Dims& r) {
    return lowering.load_as(wide, x, loops.input_index(s, r));
  };
  lowering.reduce(
      "largest", largest, loops.spatial, loops.reduce, element,
      [](const Scalar& a, const Scalar& b) { return maximum_ieee(a, b); }, min_value(wide));
  const Buffer total = lowering.temporary("total", loops.spatial, wide);
  lowering.reduce("total", total, loops.spatial, loops.reduce, [&](const Dims& s, const Dims& r) {
    return exp(element(s, r) - shift_of(lowering.loops().load(largest, s)));
  });
  lowering.map("logsumexp", result, [&](const Dims& i) {
    return shift_of(lowering.loops().load(largest, i)) + log(lowering.loops().load(total, i));
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue y = reduction::with_reduced_axes(rule, rule.result());
  const GraphValue g = reduction::with_reduced_axes(rule, rule.cotangent());
  return {(g * call_op("exp", {rule.argument(0) - y})).expr()};
}

constexpr Sample samples[] = {
    {"[[0.0, 0.0], [1.0, 3.0]], axis=1", "[0.6931471805599453, 3.1269280110429727]"},
    {"[1000.0, 1000.0]", "1000.6931471805599"},
    {"[[0.0, 0.0], [1.0, 3.0]], axis=0, keepdims=True", "[[1.3132616875182228, 3.048587351573742]]"},
    {"rand((2, 3, 4), \"float64\"), axis=[0, -1]"},
    {"rand((0, 3), \"float32\"), axis=1"},
    {"rand((1, 5, 1), \"float32\"), axis=[0, 2]"},
    {"rand((), \"float64\")"},
};
constexpr Reject rejects[] = {
    {"logsumexp.axis", "rand((2, 3), \"float32\"), axis=[0, 0]", "given twice"},
    {"logsumexp.dtype", "R.const([1, 2], \"int64\")", "expected a floating dtype"},
};
constexpr std::string_view aliases[] = {"log_sum_exp", "nn.logsumexp"};

}  // namespace

extern const Op op_logsumexp{
    .name = "logsumexp",
    .summary = "Logarithm of the sum of the exponentials over axes.",
    .params = reduction_params,
    .infer = reduction::infer_of_floats,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx = g * exp(x - y), g and y with the reduced axes as 1",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .aliases = aliases,
    .doc =
        "The largest element is taken off before the exponentials, so that nothing "
        "overflows. Of nothing, and of -inf alone, it is -inf. Floating dtypes only."};

}  // namespace relish::ops_logsumexp

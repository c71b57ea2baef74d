// The Euclidean length over axes.
#include "stdlib/families/reductions/reduction.h"

namespace relish::ops_norm {
namespace {

// Squares of the narrower types fit float64. Those of float64 are taken of elements by the largest magnitude,
// so that none of them over- or underflows: 1 stands for it where it is 0 or no finite number.
template <class T>
T scale_of(const T& largest) {
  const T none = constant_like(largest, 0);
  return choose(both(largest > none, is_finite_number(largest)), largest, constant_like(largest, 1));
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  Tensor result = reduction::empty_result(c, axes);
  visit_float(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const auto wide = [](T each) { return static_cast<double>(to_sum(each)); };
    HeldVector<double> scales(static_cast<std::size_t>(result.size()), "the scales of a norm", 1.0);
    if constexpr (std::same_as<T, double>) {
      scales = reduction::fold<T>(x, x.shape(), axes, 0.0, [&](double largest, T each, std::size_t) {
        return maximum_ieee(largest, magnitude(wide(each)));
      });
      for (double& scale : scales) scale = scale_of(scale);
    }
    const auto squares =
        reduction::fold<T>(x, x.shape(), axes, 0.0, [&](double total, T each, std::size_t at) {
          const double scaled = wide(each) / scales[at];
          return total + scaled * scaled;
        });
    T* target = result.mutable_view<T>().data();
    for (std::size_t i = 0; i < squares.size(); ++i) *target++ = T(scales[i] * std::sqrt(squares[i]));
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const reduction::ReducedLoops loops = reduction::loops_of(c, x);
  constexpr DType wide = DType::Float64;
  const auto element = [&](const Dims& s, const Dims& r) {
    return lowering.load_as(wide, x, loops.input_index(s, r));
  };
  const bool scaled = x.dtype() == wide;
  Buffer largest;
  if (scaled) {
    largest = lowering.temporary("largest", loops.spatial, wide);
    lowering.reduce(
        "largest", largest, loops.spatial, loops.reduce,
        [&](const Dims& s, const Dims& r) { return magnitude(element(s, r)); },
        [](const Scalar& a, const Scalar& b) { return maximum_ieee(a, b); }, literal(wide, 0));
  }
  const auto scale = [&](const Dims& s) { return scale_of(lowering.loops().load(largest, s)); };
  const Buffer total = lowering.temporary("total", loops.spatial, wide);
  lowering.reduce("squares", total, loops.spatial, loops.reduce, [&](const Dims& s, const Dims& r) {
    const Scalar each = scaled ? element(s, r) / scale(s) : element(s, r);
    return each * each;
  });
  lowering.map("norm", result, [&](const Dims& i) {
    const Scalar root = sqrt(lowering.loops().load(total, i));
    return scaled ? scale(i) * root : root;
  });
  return lowering.finish();
}

// At 0 there is a kink, and 0 is the slope in the middle of it, to any order.
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue y = reduction::with_reduced_axes(rule, rule.result());
  y.leaf();
  const GraphValue none = call_op("equal", {y, constant_like(y, 0)});
  none.leaf();
  const GraphValue g = reduction::with_reduced_axes(rule, rule.cotangent());
  const GraphValue slope = where(none, constant_like(g, 0), g);
  return {(slope * (rule.argument(0) / where(none, constant_like(y, 1), y))).expr()};
}

constexpr Sample samples[] = {
    {"[3.0, 4.0]", "5.0"},
    {"[[3.0, 4.0], [5.0, 12.0]], axis=1", "[5.0, 13.0]"},
    {"[[3.0, 5.0], [4.0, 12.0]], axis=0, keepdims=True", "[[5.0, 13.0]]"},
    {"rand((2, 3, 4), \"float64\") + 0.1, axis=[0, -1]"},
    {"rand((0, 3), \"float32\"), axis=1"},
    {"rand((1, 5, 1), \"float32\") + 0.1, axis=[0, 2]"},
    {"rand((), \"float64\") + 0.1"},
    {"R.const([3e30, -4e30], \"float32\")", "5e+30", false},
    {"R.const([3e-30, 4e-30], \"float32\")", "5e-30", false},
    {"R.const([3e200, 4e200], \"float64\")", "5e+200", false},
    {"R.const([3e-200, 4e-200], \"float64\")", "5e-200", false},
};
constexpr Reject rejects[] = {
    {"norm.axis", "rand((2, 3), \"float32\"), axis=[0, 0]", "given twice"},
    {"norm.dtype", "R.const([1, 2], \"int64\")", "expected a floating dtype"},
};
constexpr std::string_view aliases[] = {"linalg.norm"};

}  // namespace

extern const Op op_norm{
    .name = "norm",
    .summary = "Euclidean length: the square root of the sum of squares over axes.",
    .params = reduction_params,
    .infer = reduction::infer_of_floats,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx = g * (x / y), g and y with the reduced axes as 1; 0 where y is 0",
    .agreement = Agreement::Sum,
    .samples = samples,
    .rejects = rejects,
    .aliases = aliases,
    .doc =
        "Floating dtypes only; of a matrix without axis it is the Frobenius norm. Squares "
        "neither overflow nor vanish: what the dtype holds is the result. The gradient at 0 is 0."};

}  // namespace relish::ops_norm

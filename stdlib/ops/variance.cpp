// Variance and standard deviation over axes.
#include "stdlib/families/reductions/moments.h"

namespace relish::ops_variance {
namespace {

template <bool root>
Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  Tensor result = reduction::empty_result(c, axes);
  visit_float(x.dtype(), [&](auto element) {
    using T = decltype(element);
    constexpr bool wide = root && (std::same_as<T, float> || std::same_as<T, BFloat16>);
    T* target = result.mutable_view<T>().data();
    for (double variance : moments<T>(x, x.shape(), axes, true, wide).variance)
      *target++ = T(root ? std::sqrt(variance) : variance);
  });
  return result;
}

template <bool root>
PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  // The variance of a deviation that its dtype holds may be beyond it.
  const DType wide = root && (x.dtype() == DType::Float32 || x.dtype() == DType::BFloat16)
                         ? DType::Float64
                         : compute_dtype(x.dtype());
  const MomentBuffers moments = lower_moments(
      lowering, x.shape(), axes, wide, [&](const Dims& index) { return lowering.load_as(wide, x, index); });
  lowering.map(root ? "std" : "round", result, [&](const Dims& i) {
    Dims kept;
    for (std::size_t k = 0; k < i.size(); ++k) {
      if (!reduction::keepdims(c.call) || !contains(axes, static_cast<int>(k))) kept.push_back(i[k]);
    }
    const Scalar variance = lowering.loops().load(moments.variance, kept);
    return root ? sqrt(variance) : variance;
  });
  return lowering.finish();
}

// The deviations from the mean, over which the slope of the variance is 2 / count.
GraphValue deviations(const GradientRule& rule, const std::vector<int>& axes) {
  const GraphValue x = rule.argument(0);
  return x - mean_over(x, axes);
}

Partials vjp_variance(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  const std::vector<int> axes = axes_of(c.call, "axis", static_cast<int>(dims.size()));
  const GraphValue g = reduction::with_reduced_axes(rule, rule.cotangent());
  const GraphValue slope =
      g * constant_like(g, 2) / reduction::count_like(g, reduction::count_of(dims, axes));
  return {(deviations(rule, axes) * slope).expr()};
}

// At 0 the function has a kink like that of a norm; 0 is the slope in the middle of it.
Partials vjp_std(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  const std::vector<int> axes = axes_of(c.call, "axis", static_cast<int>(dims.size()));
  const GraphValue g = reduction::with_reduced_axes(rule, rule.cotangent());
  const GraphValue y = reduction::with_reduced_axes(rule, rule.result());
  const GraphValue flat = call_op("equal", {y, constant_like(y, 0)});
  const GraphValue safe = where(flat, constant_like(y, 1), y);
  const GraphValue share = g / reduction::count_like(g, reduction::count_of(dims, axes));
  // The rounding of the mean is the same in all deviations, and large beside them where the elements are
  // nearly equal: without their own mean the partials sum to 0, as those of a function must that no shift
  // changes. Deviations are about as large as the result: their quotient is a number where a share of it is
  // none, for elements near the smallest numbers.
  const GraphValue rough = deviations(rule, axes);
  const GraphValue relative = (rough - mean_over(rough, axes)) / safe;
  return {(relative * where(flat, constant_like(y, 0), share)).expr()};
}

constexpr Sample samples_of_variance[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]]", "6.666666666666667"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]], axis=0", "[2.25, 2.25, 9.0]"},
    {"[[1.0, 2.0, 6.0], [4.0, 5.0, 9.0]], axis=-1, keepdims=True",
     "[[4.666666666666667], [4.666666666666667]]"},
    {"rand((2, 3, 4), \"float64\"), axis=[0, -1]"},
    {"rand((0, 3), \"float32\"), axis=1"},
    {"rand((1, 5, 1), \"float32\"), axis=[0, 2]"},
    {"rand((3, 4), \"float32\") + 100.0, axis=0"},
    {"rand((), \"float64\")"},
};
constexpr Sample samples_of_std[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]]", "2.581988897471611"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]], axis=0", "[1.5, 1.5, 3.0]"},
    {"[[1.0, 1.0, 5.0, 5.0], [4.0, 5.0, 9.0, -2.0]], axis=-1, keepdims=True",
     "[[2.0], [3.9370039370059056]]"},
    {"rand((2, 3, 4), \"float64\"), axis=[0, -1]"},
    {"rand((0, 3), \"float32\"), axis=1"},
    {"rand((1, 5, 1), \"float32\"), axis=[0, 2]"},
    {"[2.0, 2.0, 2.0]", "0.0", false},
    {"rand((), \"float64\")"},
};
constexpr Reject rejects_of_variance[] = {
    {"variance.axis", "rand((2, 3), \"float32\"), axis=[0, 0]", "given twice"},
    {"variance.dtype", "[1, 2, 3]", "expected a floating dtype"},
};
constexpr Reject rejects_of_std[] = {
    {"std.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"std.dtype", "[1, 2, 3]", "expected a floating dtype"},
};

}  // namespace

extern const Op op_variance{
    .name = "variance",
    .summary = "Population variance over axes.",
    .params = reduction_params,
    .infer = reduction::infer_of_floats,
    .eval = evaluate<false>,
    .lower = lower<false>,
    .vjp = vjp_variance,
    .gradient_doc = "dx = 2 * g * (x - mean(x)) / count",
    .agreement = Agreement::Composite,
    .samples = samples_of_variance,
    .rejects = rejects_of_variance,
    .doc =
        "The mean square of the deviations from the mean, in two passes. The variance of nothing is NaN. "
        "Integers are refused, where TVM divides with truncation."};

extern const Op op_std{
    .name = "std",
    .summary = "Population standard deviation over axes.",
    .params = reduction_params,
    .infer = reduction::infer_of_floats,
    .eval = evaluate<true>,
    .lower = lower<true>,
    .vjp = vjp_std,
    .gradient_doc = "dx = g * (x - mean(x)) / (count * y), and 0 where y is 0",
    .agreement = Agreement::Composite,
    .samples = samples_of_std,
    .rejects = rejects_of_std,
    .doc =
        "The square root of the population variance, which is computed in two passes. Where all elements are "
        "equal the function has a kink; its slope there is 0. Integers are refused."};

}  // namespace relish::ops_variance

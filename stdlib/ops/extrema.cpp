// The largest and the smallest element over axes.
#include "stdlib/families/reductions/reduction.h"

namespace relish::ops_extrema {
namespace {

enum class Extremum { Largest, Smallest };

// The extremum of two elements, so that NaN propagates and +0 > -0.
template <Extremum which, class T>
T chosen(T a, T b) {
  if constexpr (which == Extremum::Largest) {
    return maximum_ieee(a, b);
  } else if constexpr (std::floating_point<T>) {
    return -maximum_ieee(-a, -b);
  } else {
    return a < b ? a : b;
  }
}

// What the extremum of nothing is: the value that any other replaces.
template <Extremum which, class T>
Compute<T> neutral() {
  if constexpr (StorageFloat<T>) {
    const auto infinity = std::numeric_limits<Compute<T>>::infinity();
    return which == Extremum::Largest ? -infinity : infinity;
  } else {
    using Limits = std::numeric_limits<T>;
    return Compute<T>(which == Extremum::Largest ? Limits::min() : Limits::max());
  }
}

template <Extremum which>
Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  Tensor result = reduction::empty_result(c, axes);
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    T* target = result.mutable_view<T>().data();
    const auto combine = [](Compute<T> best, T next, std::size_t) {
      return chosen<which>(best, to_compute(next));
    };
    for (const Compute<T>& best : reduction::fold<T>(x, x.shape(), axes, neutral<which, T>(), combine))
      *target++ = from_compute<T>(best);
  });
  return result;
}

template <Extremum which>
PrimFunc lower(const LowerCall& c) {
  constexpr bool largest = which == Extremum::Largest;
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const reduction::ReducedLoops loops = reduction::loops_of(c, x);
  lowering.reduce(
      largest ? "max" : "min", result, loops.spatial, loops.reduce,
      [&](const Dims& s, const Dims& r) { return lowering.loops().load(x, loops.input_index(s, r)); },
      [](const Scalar& best, const Scalar& next) {
        return largest ? maximum_ieee(best, next) : minimum_ieee(best, next);
      },
      largest ? min_value(x.dtype()) : max_value(x.dtype()));
  return lowering.finish();
}

// An element is out of the race when it is provably worse than the result. Comparisons with NaN are false, so
// a NaN result spreads g over its whole line and is not hidden.
template <Extremum which>
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue x = rule.argument(0);
  const GraphValue best = reduction::with_reduced_axes(rule, rule.result());
  const GraphValue g = reduction::with_reduced_axes(rule, rule.cotangent());
  const GraphValue worse = call_op(which == Extremum::Largest ? "less" : "greater", {x, best});
  const GraphValue none = constant_like(x, 0);
  worse.leaf();
  const std::vector<int> axes = axes_of(c.call, "axis", static_cast<int>(rule.dims(0).size()));
  const GraphValue ties =
      call_op("sum", {where(worse, none, call_op("ones_like", {x}, {{"dtype", Attribute()}}))},
              {{"axis", axes_attribute(axes)}, {"keepdims", reduction::keepdims(c.call)}});
  const GraphValue share = g / reduction::with_reduced_axes(rule, ties);
  return {where(worse, none, share).expr()};
}

constexpr Sample samples_of_max[] = {
    {"[[1.0, 5.0, 3.0], [4.0, 2.0, -6.0]]", "5.0"},
    {"[[1.0, 5.0, 3.0], [4.0, 2.0, -6.0]], axis=0", "[4.0, 5.0, 3.0]"},
    {"[[1.0, 5.0, 3.0], [4.0, 2.0, -6.0]], axis=-1, keepdims=True", "[[5.0], [4.0]]"},
    {"[[1, 5, -3], [4, 2, 6]], axis=[1]", "[5, 6]"},
    {"rand((2, 3, 4), \"float64\"), axis=[0, -1]"},
    {"rand((1, 5, 1), \"float32\"), axis=[0, 2]"},
    {"rand((2, 0, 3), \"float32\"), axis=1", "", false},
    {"rand((), \"float64\")"},
};
constexpr Sample samples_of_min[] = {
    {"[[1.0, 5.0, 3.0], [4.0, 2.0, -6.0]]", "-6.0"},
    {"[[1.0, 5.0, 3.0], [4.0, 2.0, -6.0]], axis=0", "[1.0, 2.0, -6.0]"},
    {"[[1.0, 5.0, 3.0], [4.0, 2.0, -6.0]], axis=-1, keepdims=True", "[[1.0], [-6.0]]"},
    {"[[1, 5, -3], [4, 2, 6]], axis=[1]", "[-3, 2]"},
    {"rand((2, 3, 4), \"float64\"), axis=[0, -1]"},
    {"rand((1, 5, 1), \"float32\"), axis=[0, 2]"},
    {"rand((2, 0, 3), \"float32\"), axis=1", "", false},
    {"rand((), \"float64\")"},
};
constexpr Reject rejects_of_max[] = {
    {"max.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"max.axis", "rand((2, 3), \"float32\"), axis=[1, -1]", "given twice"},
    {"max.dtype", "R.const([True, False], \"bool\")", "expected numbers"},
};
constexpr Reject rejects_of_min[] = {
    {"min.axis", "rand((2, 3), \"float32\"), axis=-3", "out of range"},
    {"min.axis", "rand((2, 3), \"float32\"), axis=[1, -1]", "given twice"},
    {"min.dtype", "R.const([True, False], \"bool\")", "expected numbers"},
};
constexpr std::string_view gradient =
    "dx = g / ties where x equals the result, else 0; ties: how many elements do";

}  // namespace

extern const Op op_max{.name = "max",
                       .summary = "The largest element over axes.",
                       .params = reduction_params,
                       .infer = reduction::infer,
                       .eval = evaluate<Extremum::Largest>,
                       .lower = lower<Extremum::Largest>,
                       .vjp = vjp<Extremum::Largest>,
                       .gradient_doc = gradient,
                       .agreement = Agreement::Exact,
                       .samples = samples_of_max,
                       .rejects = rejects_of_max,
                       .doc =
                           "NaN propagates and +0 is larger than -0. The largest of nothing is -inf, of "
                           "integers their lowest value. Equal largest elements share the gradient evenly."};

extern const Op op_min{
    .name = "min",
    .summary = "The smallest element over axes.",
    .params = reduction_params,
    .infer = reduction::infer,
    .eval = evaluate<Extremum::Smallest>,
    .lower = lower<Extremum::Smallest>,
    .vjp = vjp<Extremum::Smallest>,
    .gradient_doc = gradient,
    .agreement = Agreement::Exact,
    .samples = samples_of_min,
    .rejects = rejects_of_min,
    .doc =
        "NaN propagates and -0 is smaller than +0. The smallest of nothing is +inf, of "
        "integers their highest value. Equal smallest elements share the gradient evenly."};

}  // namespace relish::ops_extrema

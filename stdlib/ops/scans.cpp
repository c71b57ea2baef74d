// Running sums and products.
#include "stdlib/families/shapes/scan.h"

namespace relish::ops_scans {
namespace {

Value evaluate_sum(const EvalCall& c) {
  return scan::evaluate(c, 0, [](auto state, auto element) { return state + element; });
}
PrimFunc lower_sum(const LowerCall& c) {
  return scan::lower(c, 0, [](const Scalar& state, const Scalar& element) { return state + element; });
}

// An element is a term of every result from its place on (behind it when exclusive).
Partials vjp_sum(const VjpCall& c) {
  const GradientRule rule(c);
  const scan::Axis along = scan::axis_of(rule);
  GraphValue g = along.cotangent;
  if (scan::exclusive(c.call)) g = scan::shifted(g, along.axis, -1);
  const GraphValue ones = call_op("ones_like", {g}, {{"dtype", Attribute()}});
  return {scan::partial(rule, scan::backward_recurrence(ones, g, along.axis))};
}

Value evaluate_product(const EvalCall& c) {
  return scan::evaluate(c, 1, [](auto state, auto element) { return state * element; });
}
PrimFunc lower_product(const LowerCall& c) {
  return scan::lower(c, 1, [](const Scalar& state, const Scalar& element) { return state * element; });
}

// With y[i] = x[i] * y[i - 1]: the sum of g[j] dy[j] / dy[i] over j >= i is the recurrence l[i] = g[i] +
// x[i + 1] * l[i + 1], and dx[i] = l[i] * y[i - 1]. Nothing is divided, so zeros do no harm.
Partials vjp_product(const VjpCall& c) {
  const GradientRule rule(c);
  const scan::Axis along = scan::axis_of(rule);
  GraphValue g = along.cotangent;
  if (scan::exclusive(c.call)) g = scan::shifted(g, along.axis, -1);
  const GraphValue before =
      call_op("cumprod", {along.data}, {{"axis", along.axis}, {"dtype", Attribute()}, {"exclusive", true}});
  return {scan::partial(rule, scan::backward_recurrence(along.data, g, along.axis) * before)};
}

constexpr Sample samples_of_cumsum[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "[1.0, 3.0, 6.0, 10.0, 15.0, 21.0]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], axis=0", "[[1.0, 2.0, 3.0], [5.0, 7.0, 9.0]]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], axis=-1, exclusive=True", "[[0.0, 1.0, 3.0], [0.0, 4.0, 9.0]]"},
    {"[[1.0, 2.0], [3.0, 4.0]], exclusive=True", "[0.0, 1.0, 3.0, 6.0]"},
    {"R.const([True, True, False, True], \"bool\"), axis=0, dtype=\"int32\"", "[1, 2, 2, 3]"},
    {"[100, 100, 100], dtype=\"int8\"", "[100, -56, 44]"},
    {"rand((2, 3, 4), \"float64\"), axis=1"},
    {"rand((2, 3, 4), \"float32\"), axis=-3, dtype=\"float64\""},
    {"rand((2, 0, 3), \"float32\"), axis=1"},
    {"rand((1, 5), \"float32\"), axis=0"},
    {"rand((), \"float64\")"},
};
constexpr Sample samples_of_cumprod[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "[1.0, 2.0, 6.0, 24.0, 120.0, 720.0]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], axis=0", "[[1.0, 2.0, 3.0], [4.0, 10.0, 18.0]]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], axis=-1, exclusive=True", "[[1.0, 1.0, 2.0], [1.0, 4.0, 20.0]]"},
    {"[[2.0, 0.0, 3.0, 0.0, 5.0]], axis=1", "[[2.0, 0.0, 0.0, 0.0, 0.0]]"},
    {"[[1.0, 2.0], [0.0, 4.0]], exclusive=True", "[1.0, 1.0, 2.0, 0.0]"},
    {"R.const([True, True, False], \"bool\"), axis=0, dtype=\"int32\"", "[1, 1, 0]"},
    {"[100, 100, 3], dtype=\"int8\"", "[100, 16, 48]"},
    {"rand((2, 3, 4), \"float64\"), axis=1"},
    {"rand((2, 3, 4), \"float32\"), axis=-3, dtype=\"float64\""},
    {"rand((2, 0, 3), \"float32\"), axis=1"},
    {"rand((1, 5), \"float32\"), axis=0"},
    {"rand((), \"float64\")"},
};
constexpr Reject rejects_of_cumsum[] = {
    {"cumsum.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"cumsum.dtype", "R.const([True, False], \"bool\")", "expected numbers"},
    {"cumsum.dtype", "rand((2, 3), \"float32\"), dtype=\"bool\"", "expected a dtype of numbers"},
};
constexpr Reject rejects_of_cumprod[] = {
    {"cumprod.axis", "rand((2, 3), \"float32\"), axis=-3", "out of range"},
    {"cumprod.dtype", "R.const([True, False], \"bool\")", "expected numbers"},
    {"cumprod.dtype", "rand((2, 3), \"float32\"), dtype=\"bool\"", "expected a dtype of numbers"},
};

}  // namespace

extern const Op op_cumsum{
    .name = "cumsum",
    .summary = "Running sums along an axis.",
    .params = scan_params,
    .infer = scan::infer,
    .eval = evaluate_sum,
    .lower = lower_sum,
    .vjp = vjp_sum,
    .gradient_doc = "ddata = the sums of g from each place (exclusive: behind it) to the end of the axis",
    .agreement = Agreement::Sum,
    .samples = samples_of_cumsum,
    .rejects = rejects_of_cumsum,
    .doc =
        "Element i is the sum of elements 0 to i along the axis; exclusive: 0 to i - 1, so that the first "
        "is 0. Without an axis the result has rank 1. Integers wrap around in the dtype of the result. The "
        "gradient keeps `exclusive`, which TVM's drops."};

extern const Op op_cumprod{
    .name = "cumprod",
    .summary = "Running products along an axis.",
    .params = scan_params,
    .infer = scan::infer,
    .eval = evaluate_product,
    .lower = lower_product,
    .vjp = vjp_product,
    .gradient_doc =
        "ddata[i] = l[i] * data[0] * ... * data[i - 1] with l[i] = g[i] + data[i + 1] * l[i + 1]; "
        "exclusive: with g one place further on",
    .agreement = Agreement::Sum,
    .terms = scan::length,
    .samples = samples_of_cumprod,
    .rejects = rejects_of_cumprod,
    .doc =
        "Element i is the product of elements 0 to i along the axis; exclusive: 0 to i - 1, so that the "
        "first is 1. Without an axis the result has rank 1. Integers wrap around in the dtype of the "
        "result. The gradient is right where elements are 0."};

}  // namespace relish::ops_scans

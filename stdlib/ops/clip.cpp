// Limiting elements to an interval.
#include "stdlib/families/elementwise/domain.h"
#include "stdlib/families/elementwise/fill_value.h"
#include "stdlib/families/elementwise/scalar_math.h"
#include "stdlib/families/elementwise/scalars.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/pace.h"

namespace relish::ops_clip {
namespace {

constexpr Param params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"},
                            {"min", ParamKind::Scalar, "int or float", "", "lower end"},
                            {"max", ParamKind::Scalar, "int or float", "", "upper end"}};

Type infer(const CallView& call) {
  require_number(call, 0);
  require_in_range(call, 1, "min", call.tensor(0).dtype);
  require_in_range(call, 2, "max", call.tensor(0).dtype);
  return call.tensor(0);
}

// The ends are converted to the dtype of x before anything is compared; the lower one wins.
template <class T>
auto limited(const T& x, const T& low, const T& high) {
  return maximum_ieee(minimum_ieee(x, high), low);
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const Tensor low = scalar_tensor(c.args[1].scalar(), x.dtype());
  const Tensor high = scalar_tensor(c.args[2].scalar(), x.dtype());
  Tensor result = Tensor::empty(x.dtype(), x.shape());
  elementwise::visit<elementwise::Domain::Numbers>(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const auto a = to_compute(low.view<T>()[0]), b = to_compute(high.view<T>()[0]);
    const T* source = x.view<T>().data();
    T* target = result.mutable_view<T>().data();
    Pace pace;
    for (std::int64_t i = 0; i < x.size(); ++i, pace())
      target[i] = from_compute<T>(limited(to_compute(source[i]), a, b));
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const DType compute = compute_dtype(x.dtype());
  const auto end = [&](std::size_t i) {
    const DType written = c.call.args[i].type().as<ScalarType>()->dtype;
    const Scalar value = scalar_input(lowering, i, written);
    require_in_range(lowering, i, value, x.dtype());
    return cast(compute, cast(x.dtype(), value));
  };
  const Scalar low = end(1), high = end(2);
  const Buffer result = lowering.output();
  lowering.map("clip", result,
               [&](const Dims& i) { return limited(lowering.load_as(compute, x, i), low, high); });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  Partials partials(3);
  partials[0] = where(call_op("equal", {rule.argument(0), rule.result()}), g, constant_like(g, 0)).expr();
  return partials;
}

constexpr Sample samples[] = {
    {"[-1.5, 0.25, 2.5, 8.0], 0, 6", "[0.0, 0.25, 2.5, 6.0]"},
    {"[-1.5, 0.25, 2.5, 8.0], -0.5, 1.5", "[-0.5, 0.25, 1.5, 1.5]"},
    {"[1.5, 4.5], min=3.0, max=2.0", "[3.0, 3.0]"},
    {"R.const([-100, 5, 100], \"int8\"), -7, 7.9", "[-7, 5, 7]", false},
    {"rand((2, 3, 4), \"float64\") + 0.05, -1, 2"},
    {"rand((0, 3), \"float32\"), 0, 1"},
    {"rand((), \"float32\") + 1.5, 0, 1"},
    {"rand((17,), \"float32\") + 0.05, 0.0, 2.0"},
};
constexpr Reject rejects[] = {
    {"clip.dtype", "R.const([True], \"bool\"), 0, 1", "expected numbers"},
    {"clip.min", "[1.0], [0.5], 1", "expected a scalar"},
    {"clip.max", "R.const([1, 100], \"int8\"), 0, 1000", "which int8 does not hold"},
    {"clip.min", "R.const([1.0], \"float16\"), -1e5, 1", "which float16 does not hold"},
    {"clip.missing", "[1.0], 0", "argument 'max' is missing"},
};

}  // namespace

extern const Op op_clip{
    .name = "clip",
    .summary = "Each element, or the end of an interval that it is beyond.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx = g where x == y, else 0: the slope at both ends is 1",
    .samples = samples,
    .rejects = rejects,
    .doc =
        "max(min(x, max), min), NaN propagates. The ends are scalars and are converted to the dtype of x "
        "as astype does, so those of integers lose their fractions. When min is above max, min wins, as in "
        "TVM."};

}  // namespace relish::ops_clip

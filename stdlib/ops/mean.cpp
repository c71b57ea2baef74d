// Means over axes.
#include "stdlib/families/reductions/moments.h"
#include "stdlib/families/reductions/reduction.h"

namespace relish::ops_mean {
namespace {

std::int64_t element_count_of(const Shape& shape, const std::vector<int>& axes) {
  std::int64_t count = 1;
  for (int axis : axes) count *= shape[static_cast<std::size_t>(axis)];
  return count;
}

// The mean of integers is no integer; one that truncates is never what was meant.
Type infer(const CallView& call) {
  const std::optional<DType> dtype = call.tensor(0).dtype;
  if (dtype && !is_float(*dtype)) {
    call.reject(
        "dtype", call.span_of(0),
        fmt::format("x has dtype {}, expected a floating dtype; cast it with astype", name_of(*dtype)));
  }
  return reduction::infer(call);
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  const std::int64_t count = element_count_of(x.shape(), axes);
  Tensor result = reduction::empty_result(c, axes);
  visit_float(x.dtype(), [&](auto element) {
    using T = decltype(element);
    T* target = result.mutable_view<T>().data();
    for (const Sum<T>& total : reduction::sums<T>(x, axes)) {
      const bool overflows = std::isinf(overflowing<T>(static_cast<double>(total)));
      *target++ = from_sum<T>((overflows ? overflowing<T>(static_cast<double>(total)) : total) /
                              static_cast<double>(count));
    }
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const reduction::ReducedLoops loops = reduction::loops_of(c, x);
  const DType wide = compute_dtype(x.dtype());
  const Buffer total = lowering.temporary("total", loops.spatial, wide);
  lowering.reduce("sum", total, loops.spatial, loops.reduce, [&](const Dims& s, const Dims& r) {
    return lowering.load_as(wide, x, loops.input_index(s, r));
  });
  const Scalar count = product(loops.reduce);
  const Scalar divisor =
      count.as_int() ? literal(wide, static_cast<double>(*count.as_int())) : cast(wide, count);
  lowering.map("mean", result, [&](const Dims& i) { return lowering.loops().load(total, i) / divisor; });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  const GraphValue g = rule.cotangent();
  const Scalar count = reduction::count_of(dims, axes_of(c.call, "axis", static_cast<int>(dims.size())));
  const GraphValue divisor = reduction::count_like(g, count);
  const GraphValue whole = reduction::with_reduced_axes(rule, g / divisor);
  return {call_op("broadcast_to", {whole, rule.shape(0)}).expr()};
}

constexpr Sample samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]]", "4.0"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]], axis=0", "[2.5, 3.5, 6.0]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]], axis=-1, keepdims=True", "[[2.0], [6.0]]"},
    {"rand((2, 3, 4), \"float64\"), axis=[0, -1]"},
    {"rand((0, 3), \"float32\"), axis=1"},
    {"rand((1, 5, 1), \"float32\"), axis=[0, 2]"},
    {"rand((), \"float64\")"},
};
constexpr Reject rejects[] = {
    {"mean.axis", "rand((2, 3), \"float32\"), axis=[0, 0]", "given twice"},
    {"mean.dtype", "R.const([True, False], \"bool\")", "expected a floating dtype"},
    {"mean.dtype", "R.const([1, 2], \"int64\")", "expected a floating dtype"},
};

}  // namespace

extern const Op op_mean{.name = "mean",
                        .summary = "Arithmetic mean over axes.",
                        .params = reduction_params,
                        .infer = infer,
                        .eval = evaluate,
                        .lower = lower,
                        .vjp = vjp,
                        .gradient_doc = "dx = broadcast_to(g / count with the reduced axes as 1, shape of x)",
                        .agreement = Agreement::Sum,
                        .samples = samples,
                        .rejects = rejects,
                        .doc =
                            "The sum divided by the number of elements; the dtype is kept. The mean of "
                            "nothing is NaN. Integers and bools are refused: cast them with astype."};

}  // namespace relish::ops_mean

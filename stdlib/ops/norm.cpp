// The Euclidean length over axes.
#include "stdlib/families/reductions/moments.h"
#include "stdlib/families/reductions/reduction.h"

namespace relish::ops_norm {
namespace {

Type infer(const CallView& call) {
  const std::optional<DType> dtype = call.tensor(0).dtype;
  if (dtype && !is_float(*dtype)) {
    call.reject("dtype", call.span_of(0),
                fmt::format("x has dtype {}, expected a floating dtype", name_of(*dtype)));
  }
  return reduction::infer(call);
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  Tensor result =
      Tensor::empty(x.dtype(), reduction::result_shape(x.shape(), axes, reduction::keepdims(c.call)));
  visit_float(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const auto squares = reduction::fold<T>(x, x.shape(), axes, 0.0, [](double total, T each, std::size_t) {
      const auto wide = static_cast<double>(to_sum(each));
      return total + wide * wide;
    });
    T* target = result.mutable_view<T>().data();
    // Where the squares are too large for the type in which compiled code adds them, so is the sum.
    using Wide = decltype(to_compute(T{}));
    for (const double total : squares)
      *target++ = T(std::sqrt(std::isinf(static_cast<Wide>(total)) ? static_cast<double>(INFINITY) : total));
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const reduction::ReducedLoops loops(x.shape(), axes_of(c.call, "axis", x.rank()),
                                      reduction::keepdims(c.call));
  const DType wide = compute_dtype(x.dtype());
  const Buffer total = lowering.temporary("total", loops.spatial, wide);
  lowering.reduce("squares", total, loops.spatial, loops.reduce, [&](const Dims& s, const Dims& r) {
    const Scalar element = lowering.load_as(wide, x, loops.input_index(s, r));
    return element * element;
  });
  lowering.map("norm", result, [&](const Dims& i) { return sqrt(lowering.loops().load(total, i)); });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue y = rule.result();
  const GraphValue none = call_op("equal", {y, constant_like(y, 0)});
  const GraphValue share = rule.cotangent() / where(none, constant_like(y, 1), y);
  return {(rule.argument(0) * reduction::with_reduced_axes(rule, share)).expr()};
}

constexpr Sample samples[] = {
    {"[3.0, 4.0]", "5.0"},
    {"[[3.0, 4.0], [5.0, 12.0]], axis=1", "[5.0, 13.0]"},
    {"[[3.0, 5.0], [4.0, 12.0]], axis=0, keepdims=True", "[[5.0, 13.0]]"},
    {"rand((2, 3, 4), \"float64\") + 0.1, axis=[0, -1]"},
    {"rand((0, 3), \"float32\"), axis=1"},
    {"rand((1, 5, 1), \"float32\") + 0.1, axis=[0, 2]"},
    {"rand((), \"float64\") + 0.1"},
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
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx = x * g / y with the reduced axes as 1; 0 where y is 0",
    .agreement = Agreement::Sum,
    .samples = samples,
    .rejects = rejects,
    .aliases = aliases,
    .doc =
        "Floating dtypes only; of a matrix without axis it is the Frobenius norm. Elements "
        "whose squares overflow give inf. The gradient at 0 is 0."};

}  // namespace relish::ops_norm

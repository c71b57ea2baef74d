// Vectors of length 1.
#include "stdlib/families/reductions/moments.h"
#include "stdlib/families/reductions/reduction.h"

namespace relish::ops_nn_l2_normalize {
namespace {

constexpr Param params[] = {{"data", ParamKind::Tensor, "tensor", "", "input"},
                            {"eps", ParamKind::Attribute, "float", "", "least sum of squares"},
                            {"axis", ParamKind::Attribute, "int or list[int] or None", "None",
                             "axes of one vector; None: all elements are one"}};

double eps_of(const CallView& call) { return *call.attribute("eps").as<double>(); }

Type infer(const CallView& call) {
  require_float(call, 0);
  if (!(eps_of(call) >= 0))
    call.reject("eps", call.span, fmt::format("eps is {}, expected a number of at least 0", eps_of(call)));
  const int rank = shape_of(call.tensor(0)).rank;
  if (rank >= 0) axes_of(call, "axis", rank);
  return call.tensor(0);
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  Tensor result = Tensor::empty(x.dtype(), x.shape());
  visit_float(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const std::vector<double> squares = reduction::fold<T>(
        x, x.shape(), axes, 0.0,
        [](double total, T value, std::size_t) { return total + to_sum(value) * to_sum(value); });
    const T* source = x.view<T>().data();
    T* target = result.mutable_view<T>().data();
    for_each_row<1>(x.shape(), {reduction::result_strides(x.shape(), axes)},
                    [&](const auto& offsets, const auto& strides, std::int64_t count) {
                      for (std::int64_t i = 0; i < count; ++i) {
                        const double sum =
                            overflowing<T>(squares[static_cast<std::size_t>(offsets[0] + i * strides[0])]);
                        *target++ = T(to_sum(*source++) / std::sqrt(maximum_ieee(sum, eps_of(c.call))));
                      }
                    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  const reduction::ReducedLoops loops(x.shape(), axes, false);
  const DType wide = compute_dtype(x.dtype());
  const Buffer squares = lowering.temporary("squares", loops.spatial, wide);
  lowering.reduce("squares", squares, loops.spatial, loops.reduce, [&](const Dims& s, const Dims& r) {
    const Scalar value = lowering.load_as(wide, x, loops.input_index(s, r));
    return value * value;
  });
  lowering.map("normalize", result, [&](const Dims& i) {
    Dims group;
    for (std::size_t k = 0; k < i.size(); ++k) {
      if (!contains(axes, static_cast<int>(k))) group.push_back(i[k]);
    }
    const Scalar sum = lowering.loops().load(squares, group);
    return lowering.load_as(wide, x, i) / sqrt(maximum_ieee(sum, float_literal(wide, eps_of(c.call))));
  });
  return lowering.finish();
}

// With r = sqrt(max(s, eps)) and s = sum(x * x): dx = (g - share * y * sum(g * y)) / r, where share is the
// slope of the maximum over s: 1, at s = eps half of it, and 0 below.
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue x = rule.argument(0), g = rule.cotangent();
  const Attribute axes = axes_attribute(axes_of(c.call, "axis", static_cast<int>(rule.dims(0).size())));
  const auto total = [&](const GraphValue& value) {
    return call_op("sum", {value}, {{"axis", axes}, {"keepdims", true}});
  };
  const GraphValue squares = total(x * x), eps = constant_like(x, eps_of(c.call));
  squares.leaf();
  const GraphValue larger = call_op("maximum", {squares, eps});
  const GraphValue length = call_op("sqrt", {larger});
  length.leaf();
  const GraphValue share =
      where(call_op("less", {squares, eps}), constant_like(x, 0),
            where(call_op("equal", {squares, eps}), constant_like(x, 0.5), constant_like(x, 1)));
  const GraphValue y = x / length;
  y.leaf();
  return {((g - y * (share * total(g * y))) / length).expr()};
}

constexpr Sample samples[] = {
    {"[[3.0, 4.0], [-6.0, 8.0]], eps=1e-12, axis=1", "[[0.6, 0.8], [-0.6, 0.8]]"},
    {"[1.0, -2.0, 2.0], 1e-12", "[0.3333333333333333, -0.6666666666666666, 0.6666666666666666]"},
    {"[[0.3, 0.4], [6.0, 8.0]], eps=4.0, axis=[1]", "[[0.15, 0.2], [0.6, 0.8]]"},
    {"rand((2, 3, 4), \"float64\"), eps=1e-6, axis=[0, -1]"},
    {"rand((2, 5), \"float32\"), eps=1e-6, axis=0"},
    {"rand((0, 3), \"float32\"), eps=1e-6, axis=1"},
    {"rand((3, 1), \"float32\") + 0.5, eps=1e-6, axis=1"},
};
constexpr Reject rejects[] = {
    {"l2_normalize.axis", "rand((2, 3), \"float32\"), eps=1e-6, axis=2", "out of range"},
    {"l2_normalize.eps", "rand((2, 3), \"float32\"), eps=-1.0", "eps is -1"},
    {"l2_normalize.dtype", "[1, 2], eps=1e-6", "expected a floating dtype"},
};

}  // namespace

extern const Op op_nn_l2_normalize{
    .name = "nn.l2_normalize",
    .summary = "Divided by the square root of the sum of squares over axes.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "dx = (g - y * sum(g * y)) / r with r = sqrt(max(sum(x * x), eps)); g / r where the sum is "
        "below eps",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "x / sqrt(max(sum(x * x), eps)). A name of Relay from 2019 that TVM has no more. Where the sum of "
        "squares equals eps the slope of the maximum is split evenly."};

}  // namespace relish::ops_nn_l2_normalize

// The logarithm of softmax.
#include "stdlib/families/dtypes.h"
#include "stdlib/families/elements.h"
#include "stdlib/families/gradient.h"
#include "stdlib/families/iteration.h"
#include "stdlib/families/lowering.h"
#include "stdlib/families/scalar_math.h"

namespace relish {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int", "-1", "the dimension along which the exponentials sum to 1"}};

Type infer(const CallView& call) {
  require_float(call, 0);
  const TensorType& data = call.tensor(0);
  const int rank = shape_of(data).rank;
  if (rank >= 0) normal_axis(call, call.int_attribute("axis"), rank);
  return data;
}

// Line by line along the axis, in float64: x - max - log(sum of exp(x - max)).
Value evaluate(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const auto axis = static_cast<std::size_t>(normal_axis(c.call, c.call.int_attribute("axis"), data.rank()));
  const std::int64_t length = data.shape()[axis], stride = row_major_strides(data.shape())[axis];
  Tensor result = Tensor::empty(data.dtype(), data.shape());
  visit_float(data.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = data.view<T>().data();
    T* target = result.mutable_view<T>().data();
    const auto line = [&](std::int64_t start) {
      const auto x = [&](std::int64_t i) { return to_sum(source[start + i * stride]); };
      double largest = -std::numeric_limits<double>::infinity();
      for (std::int64_t i = 0; i < length; ++i) largest = maximum_ieee(largest, x(i));
      double total = 0;
      for (std::int64_t i = 0; i < length; ++i) total += std::exp(x(i) - largest);
      for (std::int64_t i = 0; i < length; ++i)
        target[start + i * stride] = T(x(i) - largest - std::log(total));
    };
    for (std::int64_t outer = 0; outer < data.size(); outer += std::max<std::int64_t>(length * stride, 1)) {
      for (std::int64_t inner = 0; inner < stride; ++inner) line(outer + inner);
    }
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  const Buffer result = lowering.output();
  const int axis = normal_axis(c.call, c.call.int_attribute("axis"), data.rank());
  const DType wide = compute_dtype(data.dtype());

  Dims lines = data.shape();
  const Scalar length = lines[static_cast<std::size_t>(axis)];
  lines.erase(lines.begin() + axis);
  const auto with_axis = [&](Dims line, const Scalar& i) {
    line.insert(line.begin() + axis, i);
    return line;
  };
  const auto without_axis = [&](Dims index) {
    index.erase(index.begin() + axis);
    return index;
  };

  const Buffer largest = lowering.temporary("largest", lines, wide);
  lowering.reduce(
      "largest", largest, lines, {length},
      [&](const Dims& s, const Dims& r) { return lowering.load_as(wide, data, with_axis(s, r[0])); },
      [](const Scalar& a, const Scalar& b) { return max(a, b); }, min_value(wide));
  const Buffer total = lowering.temporary("total", lines, wide);
  lowering.reduce("total", total, lines, {length}, [&](const Dims& s, const Dims& r) {
    return exp(lowering.load_as(wide, data, with_axis(s, r[0])) - lowering.loops().load(largest, s));
  });
  lowering.map("log_softmax", result, [&](const Dims& i) {
    const Dims line = without_axis(i);
    return lowering.load_as(wide, data, i) - lowering.loops().load(largest, line) -
           log(lowering.loops().load(total, line));
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  const GraphValue total =
      call_op("sum", {g}, {{"axis", attribute_of({c.call.int_attribute("axis")})}, {"keepdims", true}});
  total.leaf();
  return {(g - total * call_op("exp", {rule.result()})).expr()};
}

constexpr Sample samples[] = {
    {"[[0.0, 0.0], [1.0, 3.0]]",
     "[[-0.6931471805599453, -0.6931471805599453], [-2.1269280110429727, -0.12692801104297263]]"},
    {"[1000.0, 1000.0]", "[-0.6931471805599453, -0.6931471805599453]"},
    {"[[0.0, 0.0], [1.0, 3.0]], axis=0",
     "[[-1.3132616875182228, -3.048587351573742], [-0.31326168751822286, -0.04858735157374196]]"},
    {"rand((2, 3, 4), \"float64\"), axis=1"},
    {"rand((2, 3, 4), \"float32\"), axis=-3"},
    {"rand((0, 3), \"float32\")"},
    {"rand((3, 1), \"float64\")"},
};
constexpr Reject rejects[] = {
    {"log_softmax.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"log_softmax.dtype", "R.const([1, 2], \"int32\")", "expected a floating dtype"},
};

}  // namespace

extern const Op op_nn_log_softmax{.name = "nn.log_softmax",
                                  .summary = "Logarithm of softmax along a dimension.",
                                  .params = params,
                                  .infer = infer,
                                  .eval = evaluate,
                                  .lower = lower,
                                  .vjp = vjp,
                                  .gradient_doc = "ddata = g - sum(g, axis, keepdims=True) * exp(y)",
                                  .agreement = Agreement::Composite,
                                  .samples = samples,
                                  .rejects = rejects,
                                  .doc =
                                      "x - m - log(sum(exp(x - m))) with m the largest x of the line, so "
                                      "that large inputs do not overflow. A line "
                                      "with NaN, +inf, or of -inf only, is NaN."};

}  // namespace relish

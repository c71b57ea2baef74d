// A term for each channel.
#include "ir/printer/printer.h"
#include "stdlib/families/reductions/normalization.h"
#include "stdlib/families/shapes/lines.h"

namespace relish::ops_nn_bias_add {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"bias", ParamKind::Tensor, "tensor", "", "what is added, of rank 1"},
    {"axis", ParamKind::Attribute, "int", "1", "axis of the data that the bias goes along"}};

int axis_of(const CallView& call, int rank) { return normal_axis(call, call.int_attribute("axis"), rank); }

Type infer(const CallView& call) {
  require_number(call, 0);
  require_number(call, 1);
  TensorType result = call.tensor(0);
  result.dtype = common_dtype(call, 0, 1);
  const BroadcastShape bias = shape_of(call.tensor(1));
  if (bias.rank >= 0 && bias.rank != 1)
    call.reject("rank", call.span_of(1), fmt::format("bias has rank {}, expected 1", bias.rank));
  const BroadcastShape data = shape_of(result);
  if (data.rank < 0) return result;
  const int axis = axis_of(call, data.rank);
  if (data.dims && bias.dims &&
      prove_different((*data.dims)[static_cast<std::size_t>(axis)], (*bias.dims)[0])) {
    call.reject("shape", call.span_of(1),
                fmt::format("bias has {} elements, and data {} along axis {}", print((*bias.dims)[0]),
                            print((*data.dims)[static_cast<std::size_t>(axis)]), axis));
  }
  return result;
}

Value evaluate(const EvalCall& c) {
  const Tensor &data = c.in(0), &bias = c.in(1);
  const int axis = axis_of(c.call, data.rank());
  normalization::require_shape(c, 1, {data.shape()[static_cast<std::size_t>(axis)]});
  Tensor result = Tensor::empty(data.dtype(), data.shape());
  visit_dtype(data.dtype(), [&](auto element) {
    using T = decltype(element);
    const T *x = data.view<T>().data(), *b = bias.view<T>().data();
    T* target = result.mutable_view<T>().data();
    for_each_line(data.shape(), axis, [&](const Line& line) {
      for (std::int64_t i = 0; i < line.length; ++i)
        target[line.at(i)] = from_compute<T>(to_compute(x[line.at(i)]) + to_compute(b[i]));
    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), bias = lowering.input(1);
  const Buffer result = lowering.output();
  const auto axis = static_cast<std::size_t>(axis_of(c.call, data.rank()));
  lowering.require_equal(bias.shape()[0], data.shape()[axis],
                         "bias_add: bias does not have the shape that the data ask for");
  const DType wide = compute_dtype(result.dtype());
  lowering.map("bias_add", result, [&](const Dims& i) {
    return lowering.load_as(wide, data, i) + lowering.load_as(wide, bias, {i[axis]});
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const int rank = static_cast<int>(rule.dims(0).size());
  const std::vector<int> others = normalization::other_axes({axis_of(c.call, rank)}, rank);
  const GraphValue g = rule.cotangent();
  if (others.empty()) return {g.expr(), g.expr()};
  return {g.expr(), call_op("sum", {g}, {{"axis", axes_attribute(others)}, {"keepdims", false}}).expr()};
}

constexpr Sample samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]", "[[11.0, 22.0], [13.0, 24.0]]"},
    {"[[1, 2], [3, 4]], [10, 20], axis=0", "[[11, 12], [23, 24]]"},
    {"rand((2, 3, 4), \"float64\"), rand((3,), \"float64\")"},
    {"rand((2, 3, 4), \"float32\"), rand((4,), \"float32\"), axis=-1"},
    {"rand((0, 3), \"float32\"), rand((3,), \"float32\")"},
    {"rand((4,), \"float32\"), rand((4,), \"float32\"), axis=0"},
    {"rand((5, 1), \"float32\"), rand((1,), \"float32\")"},
};
constexpr Reject rejects[] = {
    {"bias_add.shape", "rand((2, 3), \"float32\"), rand((2,), \"float32\")", "bias has 2 elements"},
    {"bias_add.rank", "rand((2, 3), \"float32\"), rand((1, 3), \"float32\")", "bias has rank 2"},
    {"bias_add.axis", "rand((3,), \"float32\"), rand((3,), \"float32\")", "out of range"},
    {"bias_add.dtype", "rand((2, 3), \"float32\"), rand((3,), \"float64\")", "expected the same"},
};

}  // namespace

extern const Op op_nn_bias_add{
    .name = "nn.bias_add",
    .summary = "A vector added along an axis.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "ddata = g, dbias = sum(g) over all axes but that of the bias",
    .agreement = Agreement::Exact,
    .samples = samples,
    .rejects = rejects,
    .doc = "Today's TVM writes R.add with an expanded bias; the name is Relay's of 2019."};

}  // namespace relish::ops_nn_bias_add

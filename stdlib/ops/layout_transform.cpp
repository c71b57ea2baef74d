// Another order of the elements by an index map, and the transpose of that.
#include "stdlib/families/shapes/index_map.h"
#include "stdlib/families/shapes/movement.h"

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/fill_value.h"
#include "stdlib/families/language/pace.h"

namespace relish::ops_layout_transform {
namespace {

constexpr Param params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"index_map", ParamKind::Attribute, "index map", "",
     "lambda from the index of an element to its place in the result"},
    {"pad_value", ParamKind::Attribute, "int or float or None", "None",
     "value of the places that no element takes; None is 0"},
    {"axis_separators", ParamKind::Attribute, "list[int]", "[]",
     "where the dimensions of the result are split in two of texture memory; kept"},
    {"input_axis_separators", ParamKind::Attribute, "list[int]", "[]", "the same of x; kept"}};
constexpr Param backward_params[] = {
    {"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the result"},
    {"x", ParamKind::Tensor, "tensor", "", "gives the shape of the result"},
    {"index_map", ParamKind::Attribute, "index map", "", "the map of layout_transform"}};

double pad_of(const CallView& call) {
  const Attribute& value = call.attribute("pad_value");
  if (const auto* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* real = value.as<double>()) return *real;
  return 0;
}

Type infer(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const BroadcastShape shape = shape_of(x);
  const IndexMap map(call, "index_map", shape.rank);
  require_element(call, "pad_value", pad_of(call), call.span, x.dtype);
  if (!shape.dims) return TensorType{x.dtype, std::nullopt, map.result_rank()};
  const Dims dims = map.shape(call, *shape.dims);
  const auto places = product(dims).as_int(), elements = product(*shape.dims).as_int();
  if (places && elements && *places < *elements) {
    call.reject("index_map", call.span,
                fmt::format("the map has {} places for {} elements", *places, *elements));
  }
  return TensorType{x.dtype, dims, map.result_rank()};
}

// The place of an element in numbers.
Shape place_of(const IndexMap& map, const Shape& index) {
  Shape place;
  for (const Scalar& each : map(Dims(index.begin(), index.end()))) place.push_back(*canonical(each).as_int());
  return place;
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const IndexMap map(c.call, "index_map", x.rank());
  Tensor result = Tensor::empty(x.dtype(), result_shape(c));
  Pace pace;
  for (std::int64_t i = 0; i < result.size(); ++i, pace()) result.set_double(i, pad_of(c.call));
  std::int64_t from = 0;
  for_each_index(x.shape(), [&](const Shape& index) {
    copy_element(result, position_of(result.shape(), place_of(map, index)), x, from++);
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const IndexMap map(c.call, "index_map", x.rank());
  if (!prove_equal(product(x.shape()), product(result.shape()))) {
    const double pad = pad_of(c.call);
    Scalar value = is_float(result.dtype()) ? float_literal(result.dtype(), pad)
                                            : cast(result.dtype(), float_literal(DType::Float64, pad));
    lowering.map("pad", result, [&](const Dims&) { return value; });
  }
  lowering.loops().spatial("transform", x.shape(), [&](const Dims& i) {
    return lowering.loops().store(result, map(i), lowering.loops().load(x, i));
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  return {call_op("grad.layout_transform_backward", {rule.cotangent(), rule.argument(0)},
                  {{"index_map", c.call.attribute("index_map")}})
              .expr()};
}

Type infer_backward(const CallView& call) {
  require_same_dtype(call, 0, 1);
  const TensorType& x = call.tensor(1);
  const BroadcastShape shape = shape_of(x), g = shape_of(call.tensor(0));
  const IndexMap map(call, "index_map", shape.rank);
  bool fits = g.rank < 0 || g.rank == map.result_rank();
  if (fits && shape.dims && g.dims) {
    const Dims want = map.shape(call, *shape.dims);
    for (std::size_t d = 0; d < want.size(); ++d) fits = fits && !prove_different(want[d], (*g.dims)[d]);
  }
  if (!fits) {
    call.reject("shape", call.span_of(0),
                fmt::format("output_grad has type {}, which is not that of the transformed x",
                            print(call.args[0].type())));
  }
  return x;
}

Value evaluate_backward(const EvalCall& c) {
  const Tensor& g = c.in(0);
  const IndexMap map(c.call, "index_map", c.in(1).rank());
  return gathered(g, c.in(1).shape(),
                  [&](const Shape& index) { return position_of(g.shape(), place_of(map, index)); });
}

PrimFunc lower_backward(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer g = lowering.input(0), x = lowering.input(1);
  const Buffer result = lowering.output();
  const IndexMap map(c.call, "index_map", x.rank());
  const Dims want = map.shape(c.call, x.shape());
  for (std::size_t d = 0; d < want.size(); ++d) {
    lowering.require_equal(
        g.shape()[d], want[d],
        fmt::format("layout_transform_backward: dimension {} of output_grad does not fit", d));
  }
  lowering.map("transform", result, [&](const Dims& i) { return lowering.loops().load(g, map(i)); });
  return lowering.finish();
}

Partials vjp_backward(const VjpCall& c) {
  const GradientRule rule(c);
  return {
      call_op("layout_transform", {rule.cotangent()}, {{"index_map", c.call.attribute("index_map")}}).expr(),
      std::nullopt};
}

constexpr Sample samples[] = {
    {"[1.0, 2.0, 3.0, 4.0], index_map=\"lambda i: (i // 2, i % 2)\"", "[[1.0, 2.0], [3.0, 4.0]]"},
    {"[[1.0, 2.0], [3.0, 4.0]], index_map=\"lambda i, j: (j, i)\"", "[[1.0, 3.0], [2.0, 4.0]]"},
    {"[1.0, 2.0, 3.0], index_map=\"lambda i: (i // 2, i % 2)\", pad_value=9.0", "[[1.0, 2.0], [3.0, 9.0]]"},
    {"rand((2, 6, 3), \"float64\"), index_map=\"lambda n, c, h: (n, c // 4, h, c % 4)\""},
    {"rand((4, 3), \"float64\"), index_map=\"lambda i, j: i * 3 + j\""},
    {"rand((3,), \"float64\"), index_map=\"lambda i: [2 - i]\""},
    {"rand((0, 4), \"float32\"), index_map=\"lambda i, j: (i, j // 2, j % 2)\""},
    {"rand((1,), \"float32\"), index_map=\"lambda i: (i // 4, i % 4)\""},
    {"R.const([1, 2, 3], \"int8\"), index_map=\"lambda i: (i % 2, i // 2)\", pad_value=-1",
     "[[1, 3], [2, -1]]"},
};
constexpr Reject rejects[] = {
    {"layout_transform.index_map", "rand((4,), \"float32\"), index_map=\"lambda i, j: (i, j)\"", "rank 1"},
    {"layout_transform.index_map", "rand((4,), \"float32\"), index_map=\"lambda i: (i // 0,)\"",
     "expected a positive constant"},
    {"layout_transform.index_map", "rand((4,), \"float32\"), index_map=\"lambda i: (i - 1,)\"",
     "may be negative"},
    {"layout_transform.index_map", "rand((4,), \"float32\"), index_map=\"lambda i: (k,)\"",
     "expected an index"},
    {"layout_transform.index_map", "rand((4,), \"float32\"), index_map=\"lambda i: (i % 2,)\"",
     "2 places for 4 elements"},
    {"layout_transform.index_map", "rand((4,), \"float32\"), index_map=3", "expected a lambda"},
    {"layout_transform.pad_value", "R.const([1], \"int32\"), index_map=\"lambda i: (i,)\", pad_value=0.5",
     "pad_value is 0.5"},
    {"layout_transform.pad_value", "R.const([True], \"bool\"), index_map=\"lambda i: (i,)\", pad_value=-1",
     "pad_value is -1, which bool does not hold"},
    {"layout_transform.pad_value", "R.const([1], \"int8\"), index_map=\"lambda i: (i,)\", pad_value=300",
     "pad_value is 300"},
    {"layout_transform.pad_value", "[1.0], index_map=\"lambda i: (i,)\", pad_value=1e39",
     "which float32 does not hold"},
};
constexpr Sample backward_samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]], [0.0, 0.0, 0.0], index_map=\"lambda i: (i // 2, i % 2)\"", "[1.0, 2.0, 3.0]"},
    {"rand((2, 2, 3, 4), \"float64\"), rand((2, 6, 3), \"float64\"), index_map=\"lambda n, c, h: (n, c // 4, "
     "h, c "
     "% 4)\""},
    {"rand((12,), \"float64\"), rand((4, 3), \"float64\"), index_map=\"lambda i, j: i * 3 + j\""},
    {"rand((0, 2, 2), \"float32\"), rand((0, 4), \"float32\"), index_map=\"lambda i, j: (i, j // 2, j % "
     "2)\""},
};
constexpr Reject backward_rejects[] = {
    {"layout_transform_backward.shape",
     "rand((4,), \"float32\"), rand((4,), \"float32\"), index_map=\"lambda i: (i // 2, i % 2)\"",
     "is not that of"},
};

}  // namespace

extern const Op op_layout_transform{
    .name = "layout_transform",
    .summary = "The elements in another layout, given by an index map.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx = each element of g from the place that the map gives it",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Element i of x goes to index_map(i); each dimension of the result is as long as its largest index "
        "demands. Places that no element takes hold pad_value, or 0 (TVM leaves them undefined). The map "
        "must "
        "give different elements different places; a remainder % c is as long as c; indices, integers, + - * "
        "// % and brackets are its "
        "language. "
        "It is written as a lambda or T.index_map(lambda)."};

extern const Op op_grad_layout_transform_backward{
    .name = "grad.layout_transform_backward",
    .summary = "The gradient of layout_transform: takes the elements back, without the padding.",
    .params = backward_params,
    .infer = infer_backward,
    .eval = evaluate_backward,
    .lower = lower_backward,
    .vjp = vjp_backward,
    .gradient_doc = "doutput_grad = layout_transform(g, index_map)",
    .agreement = Agreement::DataMovement,
    .samples = backward_samples,
    .rejects = backward_rejects,
    .doc = "An extension of the gradient transform. x gives its shape only."};

}  // namespace relish::ops_layout_transform

// Slices whose bounds are data, and the transpose of that. The size of the result is known only at run time,
// so compiled code calls the evaluation.
#include "stdlib/families/shapes/movement.h"

#include "ir/calls/fault.h"
#include "ir/printer/printer.h"

namespace relish::ops_dynamic_strided_slice {
namespace {

constexpr Param params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"begin", ParamKind::Tensor, "tensor of int64", "", "first index for each dimension, 1-D"},
    {"end", ParamKind::Tensor, "tensor of int64", "", "index behind the slice for each dimension, 1-D"},
    {"strides", ParamKind::Tensor, "tensor of int64", "", "step for each dimension, 1-D"}};
constexpr Param backward_params[] = {
    {"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the slice"},
    {"x", ParamKind::Tensor, "tensor", "", "gives the shape of the result"},
    {"begin", ParamKind::Tensor, "tensor of int64", "", "as in dynamic_strided_slice"},
    {"end", ParamKind::Tensor, "tensor of int64", "", "as in dynamic_strided_slice"},
    {"strides", ParamKind::Tensor, "tensor of int64", "", "as in dynamic_strided_slice"}};

// Checks three tensors of bounds from argument `first` on, for a tensor of `rank` dimensions.
void check_bounds(const CallView& call, std::size_t first, int rank) {
  for (std::size_t i = first; i < first + 3; ++i) {
    const TensorType& bounds = call.tensor(i);
    if (bounds.dtype && *bounds.dtype != DType::Int64) {
      call.reject(
          "dtype", call.span_of(i),
          fmt::format("{} has dtype {}, expected int64", call.op.params[i].name, name_of(*bounds.dtype)));
    }
    const BroadcastShape shape = shape_of(bounds);
    if (shape.rank >= 0 && shape.rank != 1) {
      call.reject("rank", call.span_of(i),
                  fmt::format("{} has rank {}, expected 1", call.op.params[i].name, shape.rank));
    }
    const auto length = shape.dims ? shape.dims->front().as_int() : std::nullopt;
    if (length && rank >= 0 && *length != rank) {
      call.reject("length", call.span_of(i),
                  fmt::format("{} has {} elements, expected one for each of the {} dimensions of x",
                              call.op.params[i].name, *length, rank));
    }
  }
}

std::vector<Slice> slices_of(const EvalCall& c, const Shape& shape, std::size_t first) {
  std::vector<Slice> slices;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto number = [&](std::size_t i) { return c.in(first + i).get_int(static_cast<std::int64_t>(d)); };
    if (number(2) == 0) {
      fail(ErrorClass::Runtime, c.call.span, fmt::format("{}.strides", short_name_of(c.call.op)),
           fmt::format("{}: the stride of axis {} is 0, at [{}] of strides", short_name_of(c.call.op), d, d));
    }
    slices.push_back(slice_of(shape[d], number(0), number(1), number(2)));
  }
  return slices;
}

std::int64_t source_of(const Shape& shape, const std::vector<Slice>& slices, Shape index) {
  for (std::size_t d = 0; d < index.size(); ++d) index[d] = slices[d].begin + index[d] * slices[d].step;
  return position_of(shape, index);
}

Shape counts_of(const std::vector<Slice>& slices) {
  Shape shape;
  for (const Slice& slice : slices) shape.push_back(slice.count);
  return shape;
}

Type infer(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const int rank = shape_of(x).rank;
  check_bounds(call, 1, rank);
  if (rank == 0) return x;
  return TensorType{x.dtype, std::nullopt, rank};
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<Slice> slices = slices_of(c, x.shape(), 1);
  return gathered(x, counts_of(slices),
                  [&](const Shape& index) { return source_of(x.shape(), slices, index); });
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue partial =
      call_op("grad.dynamic_strided_slice_backward",
              {rule.cotangent(), rule.argument(0), rule.argument(1), rule.argument(2), rule.argument(3)});
  return {partial.expr(), std::nullopt, std::nullopt, std::nullopt};
}

Type infer_backward(const CallView& call) {
  require_same_dtype(call, 0, 1);
  const TensorType& x = call.tensor(1);
  check_bounds(call, 2, shape_of(x).rank);
  return x;
}

Value evaluate_backward(const EvalCall& c) {
  const Tensor& g = c.in(0);
  const Shape& shape = c.in(1).shape();
  const std::vector<Slice> slices = slices_of(c, shape, 2);
  if (counts_of(slices) != g.shape()) {
    fail(ErrorClass::Runtime, c.call.span, fmt::format("{}.shape", short_name_of(c.call.op)),
         fmt::format("{}: output_grad has shape ({}), the slice ({})", short_name_of(c.call.op),
                     fmt::join(g.shape(), ", "), fmt::join(counts_of(slices), ", ")));
  }
  Tensor result = Tensor::zeros(g.dtype(), shape);
  std::int64_t from = 0;
  for_each_index(g.shape(), [&](const Shape& index) {
    copy_element(result, source_of(shape, slices, index), g, from++);
  });
  return result;
}

Partials vjp_backward(const VjpCall& c) {
  const GradientRule rule(c);
  Partials partials(5);
  partials[0] = call_op("dynamic_strided_slice",
                        {rule.cotangent(), rule.argument(2), rule.argument(3), rule.argument(4)})
                    .expr();
  return partials;
}

constexpr Sample samples[] = {
    {"[1.0, 2.0, 3.0, 4.0, 5.0], R.const([1], \"int64\"), R.const([4], \"int64\"), R.const([2], \"int64\")",
     "[2.0, 4.0]"},
    {"[[1.0, 2.0], [3.0, 4.0]], R.const([-1, 0], \"int64\"), R.const([-3, 9], \"int64\"), R.const([-1, 1], "
     "\"int64\")",
     "[[3.0, 4.0], [1.0, 2.0]]"},
    {"rand((3, 4), \"float64\"), R.const([0, 1], \"int64\"), R.const([3, 1], \"int64\"), R.const([1, 1], "
     "\"int64\")",
     ""},
    {"rand((2, 3, 5), \"float32\"), R.const([0, 0, 1], \"int64\"), R.const([1, -1, 5], \"int64\"), "
     "R.const([1, 1, "
     "3], \"int64\")",
     ""},
    {"rand((), \"float64\"), rand((0,), \"float32\").astype(\"int64\"), rand((0,), "
     "\"float32\").astype(\"int64\"), "
     "rand((0,), \"float32\").astype(\"int64\")"},
};
constexpr Reject rejects[] = {
    {"dynamic_strided_slice.dtype",
     "rand((2,), \"float32\"), R.const([0], \"int32\"), R.const([1], \"int64\"), R.const([1], \"int64\")",
     "expected int64"},
    {"dynamic_strided_slice.rank",
     "rand((2,), \"float32\"), R.const([[0]], \"int64\"), R.const([1], \"int64\"), R.const([1], \"int64\")",
     "expected 1"},
    {"dynamic_strided_slice.length",
     "rand((2, 2), \"float32\"), R.const([0], \"int64\"), R.const([1], \"int64\"), R.const([1], \"int64\")",
     "each of the 2 dimensions"},
};
constexpr Sample backward_samples[] = {
    {"[5.0, 6.0], [0.0, 0.0, 0.0, 0.0], R.const([1], \"int64\"), R.const([4], \"int64\"), R.const([2], "
     "\"int64\")",
     "[0.0, 5.0, 0.0, 6.0]"},
    {"rand((2, 2), \"float64\"), rand((3, 4), \"float64\"), R.const([-1, 0], \"int64\"), R.const([0, 4], "
     "\"int64\"), "
     "R.const([-1, 3], \"int64\")",
     ""},
    {"rand((0,), \"float32\"), rand((3,), \"float32\"), R.const([2], \"int64\"), R.const([1], \"int64\"), "
     "R.const([1], "
     "\"int64\")",
     ""},
    {"rand((), \"float64\"), rand((), \"float64\"), rand((0,), \"float32\").astype(\"int64\"), rand((0,), "
     "\"float32\").astype(\"int64\"), rand((0,), \"float32\").astype(\"int64\")"},
};
constexpr Reject backward_rejects[] = {
    {"dynamic_strided_slice_backward.dtype",
     "rand((1,), \"float32\"), rand((2,), \"float64\"), R.const([0], \"int64\"), R.const([1], \"int64\"), "
     "R.const([1], \"int64\")",
     "expected the same"},
};

}  // namespace

extern const Op op_dynamic_strided_slice{
    .name = "dynamic_strided_slice",
    .summary = "A slice whose bounds are tensors.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .vjp = vjp,
    .gradient_doc = "dx = zeros of the shape of x with g in the slice",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "One bound for each dimension, read as in strided_slice. The shape of the result is known only at "
        "run "
        "time: R.match_cast names its dimensions. A stride of 0 is a RuntimeError."};

extern const Op op_grad_dynamic_strided_slice_backward{
    .name = "grad.dynamic_strided_slice_backward",
    .summary = "The gradient of dynamic_strided_slice: zeros with output_grad in the slice.",
    .params = backward_params,
    .infer = infer_backward,
    .eval = evaluate_backward,
    .vjp = vjp_backward,
    .gradient_doc = "doutput_grad = dynamic_strided_slice(g, begin, end, strides)",
    .agreement = Agreement::DataMovement,
    .samples = backward_samples,
    .rejects = backward_rejects,
    .doc = "An extension of the gradient transform. x gives its shape only."};

}  // namespace relish::ops_dynamic_strided_slice

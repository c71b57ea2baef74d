// Between tensors and shapes: the shape of a tensor, its size, and shapes that are data.
#include "stdlib/families/shapes/shapes.h"

#include "ir/printer/printer.h"

namespace relish::ops_shapes_of_tensors {
namespace {

constexpr Param tensor_params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"}};
constexpr Param shape_params[] = {{"shape", ParamKind::Shape, "shape", "", "input"}};

// --- shape_of

Type infer_shape_of(const CallView& call) {
  const TensorType& x = call.tensor(0);
  return ShapeType{.dims = known_dims(x), .rank = x.rank};
}

Value evaluate_shape_of(const EvalCall& c) { return ShapeValue{c.in(0).shape()}; }

constexpr Sample shape_of_samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "R.shape([2, 3])", false},
    {"R.const(1, \"int32\")", "R.shape([])", false},
    {"rand((0, 4), \"float64\")", "R.shape([0, 4])", false},
    {"[True]", "R.shape([1])", false},
    {"rand((1, 2, 3, 4), \"float32\")", "R.shape([1, 2, 3, 4])", false},
};
constexpr Reject shape_of_rejects[] = {{"shape_of.tensor", "R.shape([2])", "expected a tensor"}};

// --- size

Type infer_size(const CallView& call) {
  call.tensor(0);
  return tensor_type({}, DType::Int64);
}

Value evaluate_size(const EvalCall& c) { return Tensor::scalar_int(DType::Int64, c.in(0).size()); }

constexpr Sample size_samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "6", false}, {"R.const(1, \"int32\")", "1", false},
    {"rand((0, 4), \"float64\")", "0", false},          {"[True]", "1", false},
    {"rand((1, 2, 3, 4), \"float32\")", "24", false},
};
constexpr Reject size_rejects[] = {{"size.tensor", "R.shape([2])", "expected a tensor"}};

// --- tensor_to_shape

Type infer_tensor_to_shape(const CallView& call) {
  const TensorType& x = call.tensor(0);
  if (x.dtype && *x.dtype != DType::Int64) {
    call.reject("dtype", call.span_of(0), fmt::format("x has dtype {}, expected int64", name_of(*x.dtype)));
  }
  if (x.rank >= 0 && x.rank != 1)
    call.reject("rank", call.span_of(0), fmt::format("x has rank {}, expected 1", x.rank));
  std::optional<std::int64_t> rank;
  if (x.shape) rank = canonical(x.shape->front()).as_int();
  return ShapeType{.dims = std::nullopt, .rank = rank ? static_cast<int>(*rank) : -1};
}

Value evaluate_tensor_to_shape(const EvalCall& c) {
  ShapeValue shape;
  for (const std::int64_t dim : c.in(0).view<std::int64_t>()) {
    if (dim < 0) {
      fail(ErrorClass::Runtime, c.call.span, "tensor_to_shape.value",
           fmt::format("tensor_to_shape: dimension {} is {}, which is negative", shape.dims.size(), dim));
    }
    shape.dims.push_back(dim);
  }
  return shape;
}

constexpr Sample tensor_to_shape_samples[] = {
    {"R.const([2, 3], \"int64\")", "R.shape([2, 3])", false},
    {"R.const([0], \"int64\")", "R.shape([0])", false},
    {"R.const([7, 1, 5], \"int64\")", "R.shape([7, 1, 5])", false},
    {"rand((0,), \"float32\").astype(\"int64\")", "R.shape([])", false},
    {"R.const([9223372036854775807], \"int64\")", "R.shape([9223372036854775807])", false},
};
constexpr Reject tensor_to_shape_rejects[] = {
    {"tensor_to_shape.dtype", "R.const([2, 3], \"int32\")", "expected int64"},
    {"tensor_to_shape.rank", "R.const([[2, 3]], \"int64\")", "expected 1"}};

// --- shape_to_tensor

Type infer_shape_to_tensor(const CallView& call) {
  const BroadcastShape shape = shape_argument(call, 0);
  const int rank = shape.dims ? static_cast<int>(shape.dims->size()) : shape.rank;
  if (rank < 0) return TensorType{DType::Int64, std::nullopt, 1};
  return tensor_type({Scalar(rank)}, DType::Int64);
}

Value evaluate_shape_to_tensor(const EvalCall& c) {
  const std::vector<std::int64_t>& dims = c.args[0].shape().dims;
  return Tensor::from<std::int64_t>({static_cast<std::int64_t>(dims.size())}, dims);
}

constexpr Sample shape_to_tensor_samples[] = {
    {"R.shape([2, 3])", "[2, 3]", false},    {"R.shape([])", "", false},
    {"(4, 0, 1)", "[4, 0, 1]", false},       {"R.shape([7])", "[7]", false},
    {"[1, 2, 3, 4]", "[1, 2, 3, 4]", false}, {"R.shape([9])", "[9]", false},
};
constexpr Reject shape_to_tensor_rejects[] = {{"shape_to_tensor.missing", "", "argument 'shape' is missing"}};

}  // namespace

extern const Op op_shape_of{.name = "shape_of",
                            .summary = "The shape of a tensor.",
                            .params = tensor_params,
                            .infer = infer_shape_of,
                            .eval = evaluate_shape_of,
                            .no_gradient = "the result is a shape",
                            .zero_gradient = true,
                            .agreement = Agreement::DataMovement,
                            .samples = shape_of_samples,
                            .rejects = shape_of_rejects};
extern const Op op_size{.name = "size",
                        .summary = "The number of elements of a tensor, as a 0-d int64 tensor.",
                        .params = tensor_params,
                        .infer = infer_size,
                        .eval = evaluate_size,
                        .no_gradient = "the result is an integer",
                        .zero_gradient = true,
                        .agreement = Agreement::DataMovement,
                        .samples = size_samples,
                        .rejects = size_rejects};
extern const Op op_tensor_to_shape{
    .name = "tensor_to_shape",
    .summary = "The shape that a 1-D int64 tensor holds.",
    .params = tensor_params,
    .infer = infer_tensor_to_shape,
    .eval = evaluate_tensor_to_shape,
    .no_gradient = "the result is a shape",
    .zero_gradient = true,
    .agreement = Agreement::DataMovement,
    .samples = tensor_to_shape_samples,
    .rejects = tensor_to_shape_rejects,
    .doc =
        "The dimensions are known only at run time: R.match_cast(s, R.Shape([\"m\", \"n\"])) names them. A "
        "negative element is a RuntimeError."};
extern const Op op_shape_to_tensor{.name = "shape_to_tensor",
                                   .summary = "The dimensions of a shape as a 1-D int64 tensor.",
                                   .params = shape_params,
                                   .infer = infer_shape_to_tensor,
                                   .eval = evaluate_shape_to_tensor,
                                   .no_gradient = "the result is an integer",
                                   .zero_gradient = true,
                                   .agreement = Agreement::DataMovement,
                                   .samples = shape_to_tensor_samples,
                                   .rejects = shape_to_tensor_rejects};

}  // namespace relish::ops_shapes_of_tensors

// Tensors of zeros and of ones.
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/language/lowering.h"

namespace relish::ops_creation {
namespace {

constexpr Param shape_params[] = {{"shape", ParamKind::Shape, "shape", "", "shape of the result"},
                                  {"dtype", ParamKind::Attribute, "dtype", "", "element type of the result"}};
constexpr Param like_params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "gives the shape, and the dtype by default"},
    {"dtype", ParamKind::Attribute, "dtype or None", "None", "element type of the result"}};

Type infer_shape(const CallView& call) {
  const std::optional<DType> dtype = dtype_attribute(call, "dtype");
  if (!dtype) call.reject("dtype", call.span, "dtype is None, expected a dtype");
  const BroadcastShape shape = shape_argument(call, 0);
  for (const Scalar& dim : shape.dims.value_or(Dims{})) {
    if (dim.as_int().value_or(0) < 0) {
      call.reject("shape", call.span_of(0), fmt::format("dimension {} is negative", *dim.as_int()));
    }
  }
  return tensor_of(shape, dtype);
}

Type infer_like(const CallView& call) {
  TensorType type = call.tensor(0);
  if (const auto dtype = dtype_attribute(call, "dtype")) type.dtype = dtype;
  return type;
}

template <int number>
Value evaluate(const EvalCall& c) {
  const DType dtype = *c.result_type.tensor()->dtype;
  if constexpr (number == 0) return Tensor::zeros(dtype, result_shape(c));
  Tensor result = Tensor::empty(dtype, result_shape(c));
  visit_dtype(dtype, [&](auto element) {
    using T = decltype(element);
    for (T& value : result.mutable_view<T>()) value = convert_element<T>(static_cast<double>(number));
  });
  return result;
}

template <int number, bool like>
PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  if constexpr (like) lowering.input(0);
  const Buffer result = lowering.output();
  lowering.map("fill", result, [&](const Dims&) { return literal(result.dtype(), number); });
  return lowering.finish();
}

template <int number, bool like>
constexpr Op creation(Op op) {
  if (like)
    op.params = like_params;
  else
    op.params = shape_params;
  op.infer = like ? infer_like : infer_shape;
  op.eval = evaluate<number>;
  op.lower = lower<number, like>;
  op.no_gradient = "the result is constant";
  op.zero_gradient = true;
  op.agreement = Agreement::DataMovement;
  return op;
}

constexpr Sample zeros_samples[] = {{"R.shape([2, 2]), dtype=\"float32\"", "[[0.0, 0.0], [0.0, 0.0]]", false},
                                    {"R.shape([]), dtype=\"float64\"", "0.0", false},
                                    {"R.shape([0, 3]), dtype=\"int64\"", "", false}};
constexpr Sample ones_samples[] = {{"R.shape([2, 2]), dtype=\"float32\"", "[[1.0, 1.0], [1.0, 1.0]]", false},
                                   {"R.shape([]), dtype=\"float64\"", "1.0", false},
                                   {"R.shape([0, 3]), dtype=\"int64\"", "", false}};
constexpr Reject zeros_rejects[] = {{"zeros.dtype", "R.shape([2]), dtype=\"float7\"", "dtype is"},
                                    {"zeros.shape", "R.shape([-2]), dtype=\"float32\"", "is negative"}};
constexpr Reject ones_rejects[] = {{"ones.dtype", "R.shape([2]), dtype=\"float7\"", "dtype is"},
                                   {"ones.shape", "R.shape([-2]), dtype=\"float32\"", "is negative"}};
constexpr Sample zeros_like_samples[] = {{"[[1.0, 2.0]]", "[[0.0, 0.0]]", false},
                                         {"[1.0, 2.0], dtype=\"int32\"", "[0, 0]", false},
                                         {"rand((), \"float64\")", "0.0", false}};
constexpr Sample ones_like_samples[] = {{"[[1.0, 2.0]]", "[[1.0, 1.0]]", false},
                                        {"[1.0, 2.0], dtype=\"int32\"", "[1, 1]", false},
                                        {"rand((), \"float64\")", "1.0", false}};
constexpr Reject zeros_like_rejects[] = {
    {"zeros_like.dtype", "rand((2,), \"float32\"), dtype=\"float7\"", "dtype is"}};
constexpr Reject ones_like_rejects[] = {
    {"ones_like.dtype", "rand((2,), \"float32\"), dtype=\"float7\"", "dtype is"}};

}  // namespace

extern const Op op_zeros = creation<0, false>(
    {.name = "zeros", .summary = "A tensor of zeros.", .samples = zeros_samples, .rejects = zeros_rejects});
extern const Op op_ones = creation<1, false>(
    {.name = "ones", .summary = "A tensor of ones.", .samples = ones_samples, .rejects = ones_rejects});
extern const Op op_zeros_like = creation<0, true>({.name = "zeros_like",
                                                   .summary = "Zeros in the shape of a tensor.",
                                                   .samples = zeros_like_samples,
                                                   .rejects = zeros_like_rejects});
extern const Op op_ones_like = creation<1, true>({.name = "ones_like",
                                                  .summary = "Ones in the shape of a tensor.",
                                                  .samples = ones_like_samples,
                                                  .rejects = ones_like_rejects});

}  // namespace relish::ops_creation

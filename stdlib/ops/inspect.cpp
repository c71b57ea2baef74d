// What a tensor's header says, as scalars: rank, dims, strides, dtype. Tensors are compact and row-major and
// begin at their first byte.
#include "ir/printer/printer.h"
#include "stdlib/families/shapes/shapes.h"

namespace relish::ops_inspect {
namespace {

constexpr Param params[] = {{"tensor", ParamKind::Tensor, "tensor", "", "input"}};
constexpr Param axis_params[] = {{"tensor", ParamKind::Tensor, "tensor", "", "input"},
                                 {"axis", ParamKind::Scalar, "int", "", "a dimension, from 0"}};

template <DType dtype>
Type infer(const CallView& call) {
  call.tensor(0);
  return ScalarType{dtype};
}

// The axis, when it is a literal, is one of the tensor's.
Type infer_axis(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const auto* scalar = call.args[1].type().as<ScalarType>();
  if (scalar && !is_int(scalar->dtype)) {
    call.reject("axis", call.span_of(1),
                fmt::format("axis has type {}; expected an integer", print(call.args[1].type())));
  }
  const auto* literal = call.args[1].as<ScalarValueExpr>();
  const std::optional<std::int64_t> axis = literal ? canonical(literal->value).as_int() : std::nullopt;
  if (axis && (*axis < 0 || (x.rank >= 0 && *axis >= x.rank))) {
    call.reject("axis", call.span_of(1),
                fmt::format("axis {} is out of range for a tensor of rank {}", *axis,
                            x.rank < 0 ? "unknown" : std::to_string(x.rank)));
  }
  return ScalarType{DType::Int64};
}

std::int64_t dtype_code(DType dtype) {
  if (is_bool(dtype)) return 6;
  if (dtype == DType::BFloat16) return 4;
  return is_float(dtype) ? 2 : is_unsigned_int(dtype) ? 1 : 0;
}

using Field = std::int64_t (*)(const Tensor&, std::int64_t axis);

template <Field field, DType dtype>
Value evaluate(const EvalCall& c) {
  const std::int64_t axis = c.args.size() > 1 ? c.args[1].scalar().integer : 0;
  return ScalarValue::of_int(field(c.in(0), axis), dtype);
}

std::int64_t rank_of(const Tensor& x, std::int64_t) { return x.rank(); }
std::int64_t extent_of(const Tensor& x, std::int64_t axis) {
  return x.shape()[static_cast<std::size_t>(axis)];
}
std::int64_t stride_of(const Tensor& x, std::int64_t axis) {
  std::int64_t stride = 1;
  for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < x.shape().size(); ++i) stride *= x.shape()[i];
  return stride;
}
std::int64_t code_of(const Tensor& x, std::int64_t) { return dtype_code(x.dtype()); }
std::int64_t bits_of(const Tensor& x, std::int64_t) { return std::int64_t{8} * size_of(x.dtype()); }
std::int64_t one(const Tensor&, std::int64_t) { return 1; }
std::int64_t zero(const Tensor&, std::int64_t) { return 0; }

template <Field field, DType dtype>
constexpr Op inspection(Op op, bool with_axis = false) {
  if (with_axis)
    op.params = axis_params;
  else
    op.params = params;
  op.infer = with_axis ? infer_axis : infer<dtype>;
  op.eval = evaluate<field, dtype>;
  op.no_gradient = "the result is an integer";
  op.agreement = Agreement::DataMovement;
  return op;
}

constexpr Sample ndim_samples[] = {{"[[1.0], [2.0]]", "2", false},
                                   {"R.const(1, \"int32\")", "0", false},
                                   {"rand((0, 1, 2), \"float64\")", "3", false},
                                   {"[True]", "1", false},
                                   {"rand((1, 1, 1, 1), \"float32\")", "4", false}};
constexpr Sample shape_samples[] = {{"[[1.0], [2.0]], 0", "2", false},
                                    {"[[1.0], [2.0]], 1", "1", false},
                                    {"rand((0, 1, 2), \"float64\"), 2", "2", false},
                                    {"rand((0, 1, 2), \"float64\"), axis=0", "0", false},
                                    {"[True], 0", "1", false}};
constexpr Sample stride_samples[] = {{"[[1.0], [2.0]], 0", "1", false},
                                     {"[[1.0, 2.0, 3.0]], 0", "3", false},
                                     {"[[1.0, 2.0, 3.0]], 1", "1", false},
                                     {"rand((2, 3, 4), \"float64\"), axis=0", "12", false},
                                     {"[True], 0", "1", false}};
constexpr Sample code_samples[] = {{"R.const(1, \"int8\")", "0", false},
                                   {"R.const([1], \"uint32\")", "1", false},
                                   {"[1.0]", "2", false},
                                   {"R.const([1.0], \"bfloat16\")", "4", false},
                                   {"[True]", "6", false}};
constexpr Sample bits_samples[] = {{"R.const(1, \"int8\")", "8", false},
                                   {"R.const([1], \"uint16\")", "16", false},
                                   {"R.const([1.0], \"float32\")", "32", false},
                                   {"R.const([1.0], \"float64\")", "64", false},
                                   {"[True]", "8", false}};
constexpr Sample lanes_samples[] = {{"R.const(1, \"int8\")", "1", false},
                                    {"R.const([1], \"uint16\")", "1", false},
                                    {"[[1.0]]", "1", false},
                                    {"R.const([1.0], \"float64\")", "1", false},
                                    {"[True]", "1", false}};
constexpr Sample offset_samples[] = {{"R.const(1, \"int8\")", "0", false},
                                     {"R.const([1], \"uint16\")", "0", false},
                                     {"[[1.0]]", "0", false},
                                     {"R.const([1.0], \"float64\")", "0", false},
                                     {"[True]", "0", false}};
constexpr Reject ndim_rejects[] = {{"tensor_ndim.tensor", "R.shape([2])", "expected a tensor"}};
constexpr Reject shape_rejects[] = {
    {"tensor_shape_i.axis", "[1.0], 1", "axis 1 is out of range for a tensor of rank 1"},
    {"tensor_shape_i.axis", "[1.0], -1", "axis -1 is out of range"},
    {"tensor_shape_i.axis", "[1.0], 0.5", "expected an integer"}};
constexpr Reject stride_rejects[] = {
    {"tensor_stride_i.axis", "[1.0], 1", "axis 1 is out of range for a tensor of rank 1"}};
constexpr Reject code_rejects[] = {{"tensor_dtype_code.tensor", "R.shape([2])", "expected a tensor"}};
constexpr Reject bits_rejects[] = {{"tensor_dtype_bits.tensor", "R.shape([2])", "expected a tensor"}};
constexpr Reject lanes_rejects[] = {{"tensor_dtype_lanes.tensor", "R.shape([2])", "expected a tensor"}};
constexpr Reject byte_rejects[] = {{"tensor_byte_offset.tensor", "R.shape([2])", "expected a tensor"}};
constexpr Reject element_rejects[] = {{"tensor_elem_offset.tensor", "R.shape([2])", "expected a tensor"}};

}  // namespace

extern const Op op_inspect_tensor_ndim =
    inspection<rank_of, DType::Int32>({.name = "inspect.tensor_ndim",
                                       .summary = "The rank of a tensor, an int32 scalar.",
                                       .samples = ndim_samples,
                                       .rejects = ndim_rejects,
                                       .doc = "Written x.ndim, too."});
extern const Op op_inspect_tensor_shape_i =
    inspection<extent_of, DType::Int64>({.name = "inspect.tensor_shape_i",
                                         .summary = "One dimension of a tensor, an int64 scalar.",
                                         .samples = shape_samples,
                                         .rejects = shape_rejects,
                                         .doc = "Written x.shape[i], too."},
                                        true);
extern const Op op_inspect_tensor_stride_i =
    inspection<stride_of, DType::Int64>({.name = "inspect.tensor_stride_i",
                                         .summary = "One stride of a tensor in elements, an int64 scalar.",
                                         .samples = stride_samples,
                                         .rejects = stride_rejects,
                                         .doc = "Written x.strides[i], too."},
                                        true);
extern const Op op_inspect_tensor_dtype_code = inspection<code_of, DType::UInt8>(
    {.name = "inspect.tensor_dtype_code",
     .summary = "The kind of a tensor's elements, a uint8 scalar.",
     .samples = code_samples,
     .rejects = code_rejects,
     .doc = "0 is int, 1 uint, 2 float, 4 bfloat, 6 bool, as in DLPack. Written "
            "x.dtype.type_code, too."});
extern const Op op_inspect_tensor_dtype_bits =
    inspection<bits_of, DType::UInt8>({.name = "inspect.tensor_dtype_bits",
                                       .summary = "The bits of a tensor's elements, a uint8 scalar.",
                                       .samples = bits_samples,
                                       .rejects = bits_rejects,
                                       .doc = "Written x.dtype.bits, too."});
extern const Op op_inspect_tensor_dtype_lanes = inspection<one, DType::UInt16>(
    {.name = "inspect.tensor_dtype_lanes",
     .summary = "The lanes of a tensor's elements, a uint16 scalar.",
     .samples = lanes_samples,
     .rejects = lanes_rejects,
     .doc = "Elements of tensors are no vectors: always 1. Written x.dtype.lanes, "
            "too."});
extern const Op op_inspect_tensor_byte_offset =
    inspection<zero, DType::UInt64>({.name = "inspect.tensor_byte_offset",
                                     .summary = "The first byte of a tensor in its memory, a uint64 scalar.",
                                     .samples = offset_samples,
                                     .rejects = byte_rejects,
                                     .doc = "Always 0. Written x.byte_offset, too."});
extern const Op op_inspect_tensor_elem_offset = inspection<zero, DType::UInt64>(
    {.name = "inspect.tensor_elem_offset",
     .summary = "The first element of a tensor in its memory, a uint64 scalar.",
     .samples = offset_samples,
     .rejects = element_rejects,
     .doc = "Always 0. Written x.elem_offset, too."});

}  // namespace relish::ops_inspect

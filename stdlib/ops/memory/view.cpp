// The bytes of a tensor as another tensor.
#include <cstring>

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/identity.h"
#include "stdlib/families/language/storage.h"

namespace relish::ops_memory_view {
namespace {

constexpr Param params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"shape", ParamKind::Any, "shape", "()", "shape of the view; R.tuple() keeps that of x"},
    {"dtype", ParamKind::Any, "dtype", "()", "element type of the view; R.tuple() keeps that of x"},
    {"relative_byte_offset", ParamKind::Any, "int", "()", "first byte of the view in x; R.tuple() is 0"}};
constexpr Param zero_params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"}};

bool is_absent(const CallView& call, std::size_t i) { return call.args[i].type().is_void(); }
bool is_absent(const Value& value) { return value.is_void() || (value.is_tuple() && value.fields().empty()); }

// Bytes of a shape of literals; nothing when that is not known.
std::optional<std::int64_t> known_bytes(const BroadcastShape& shape, std::optional<DType> dtype) {
  if (!shape.dims || !dtype) return std::nullopt;
  return canonical(product(*shape.dims) * Scalar(static_cast<std::int64_t>(size_of(*dtype)))).as_int();
}

Type infer(const CallView& call) {
  const TensorType& x = call.tensor(0);
  BroadcastShape shape = shape_of(x);
  if (!is_absent(call, 1)) {
    const Type& type = call.args[1].type();
    if (!type.as<ShapeType>() && !type.as<AnyType>()) {
      call.reject("shape", call.span_of(1),
                  fmt::format("shape has type {}; expected a shape or R.tuple()", print(type)));
    }
    shape = type.as<ShapeType>() ? shape_argument(call, 1) : BroadcastShape{};
  }
  std::optional<DType> dtype = x.dtype;
  if (!is_absent(call, 2)) dtype = dtype_argument(call, 2);
  std::optional<std::int64_t> offset = 0;
  if (!is_absent(call, 3)) {
    const auto* scalar = call.args[3].type().as<ScalarType>();
    if (!call.args[3].type().as<AnyType>() && (!scalar || scalar->dtype != DType::Int64)) {
      call.reject("offset", call.span_of(3),
                  fmt::format("relative_byte_offset has type {}; expected an int64 scalar or R.tuple()",
                              print(call.args[3].type())));
    }
    const auto* literal = call.args[3].as<ScalarValueExpr>();
    offset = literal ? canonical(literal->value).as_int() : std::nullopt;
  }
  const auto whole = known_bytes(shape_of(x), x.dtype), part = known_bytes(shape, dtype);
  if (whole && part && offset && (*offset < 0 || *part > *whole || *offset > *whole - *part)) {
    call.reject("bounds", call.span,
                fmt::format("a view of {} bytes at byte {} is taken of {} bytes", *part, *offset, *whole));
  }
  if (offset && *offset < 0)
    call.reject("bounds", call.span, fmt::format("a view at byte {}, before the tensor", *offset));
  // Of the same elements: what is known of their number tells, also where sizes are symbolic.
  const BroadcastShape source = shape_of(x);
  if ((is_absent(call, 2) || (dtype && dtype == x.dtype)) && offset) {
    const bool same_shape = is_absent(call, 1);
    const auto more = shape.dims && source.dims
                          ? canonical(product(*shape.dims) - product(*source.dims)).as_int()
                          : std::nullopt;
    if ((same_shape && *offset > 0) || more.value_or(0) > 0) {
      call.reject("bounds", call.span,
                  same_shape ? fmt::format("a view of all of x at byte {}, which ends behind x", *offset)
                             : fmt::format("a view of {} elements is taken of {}",
                                           print(product(*shape.dims)), print(product(*source.dims))));
    }
  }
  TensorType result = tensor_of(shape, dtype);
  result.vdevice = x.vdevice;
  return result;
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const Shape shape = is_absent(c.args[1]) ? x.shape() : c.args[1].shape().dims;
  const DType dtype = is_absent(c.args[2]) ? x.dtype() : dtype_value(c.args[2]);
  const std::int64_t offset = is_absent(c.args[3]) ? 0 : c.args[3].scalar().integer;
  Tensor result = Tensor::empty(dtype, shape);
  const std::int64_t bytes = result.byte_size();
  if (offset < 0 || bytes > x.byte_size() || offset > x.byte_size() - bytes) {
    fail(ErrorClass::Runtime, c.call.span, "view.bounds",
         fmt::format("view: a view of {} bytes at byte {} is taken of {} bytes", bytes, offset,
                     x.byte_size()));
  }
  const char* from = static_cast<const char*>(x.data()) + offset;
  char* to = static_cast<char*>(result.mutable_data());
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  // A bool is 0 or 1, whatever the bytes were.
  for (std::int64_t i = 0; is_bool(dtype) && i < bytes; ++i) to[i] = static_cast<char>(to[i] != 0);
  return result;
}

constexpr Sample samples[] = {
    {"[1.0, 2.0, 3.0, 4.0], R.shape([2, 2])", "[[1.0, 2.0], [3.0, 4.0]]", false},
    {"R.const([1.0, -2.0], \"float32\"), dtype=\"int32\"", "[1065353216, -1073741824]", false},
    {"R.const([1, 2, 3, 4], \"int32\"), [2], \"int32\", 8", "[3, 4]", false},
    {"R.const([257, 0], \"int16\"), R.shape([4]), \"uint8\", R.tuple()", "[1, 1, 0, 0]", false},
    {"R.const([1, 2], \"int64\"), R.tuple(), R.tuple(), R.tuple()", "[1, 2]", false},
    {"rand((0, 4), \"float32\"), R.shape([0])", "", false},
};
constexpr Reject rejects[] = {
    {"view.bounds", "R.const([1.0, 2.0], \"float32\"), R.shape([3])", "a view of 12 bytes at byte 0"},
    {"view.bounds", "R.const([1.0, 2.0], \"float32\"), relative_byte_offset=4",
     "at byte 4 is taken of 8 bytes"},
    {"view.shape", "[1.0, 2.0], 2.5", "expected a shape or R.tuple()"},
    {"view.offset", "[1.0, 2.0], R.shape([1]), \"float32\", 0.5", "expected an int64 scalar"},
    {"view.dtype", "[1.0, 2.0], R.shape([1]), 3", "expected R.dtype"},
};
constexpr Sample zero_samples[] = {
    {"[1.0, 2.0]", "[1.0, 2.0]"},         {"R.const([[1], [2]], \"int32\")", "[[1], [2]]"},
    {"R.const(3.5, \"float64\")", "3.5"}, {"[True]", "[True]"},
    {"[[0.5, -0.5]]", "[[0.5, -0.5]]"},
};
constexpr Reject zero_rejects[] = {{"ensure_zero_offset.tensor", "R.shape([2])", "expected a tensor"}};

}  // namespace

extern const Op op_memory_view{
    .name = "memory.view",
    .summary = "The bytes of a tensor under another shape or dtype, or a part of them.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .no_gradient = "bytes read as another dtype have no derivative",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Values are immutable, so the view is a tensor of its own: what is written to it does not show in "
        "x."};
extern const Op op_memory_ensure_zero_offset =
    identity_of_tensor({.name = "memory.ensure_zero_offset",
                        .summary = "The tensor, which begins at the first byte of its memory.",
                        .params = zero_params,
                        .samples = zero_samples,
                        .rejects = zero_rejects,
                        .doc = "Every tensor does."});

}  // namespace relish::ops_memory_view

// Tensors of one value.
#include "stdlib/families/elementwise/binary.h"
#include "stdlib/families/elementwise/fill_value.h"

#include "ir/printer/printer.h"

namespace relish::ops_full {
namespace {

constexpr Param full_params[] = {
    {"shape", ParamKind::Shape, "shape", "", "shape of the result"},
    {"fill_value", ParamKind::Tensor, "tensor of rank 0 or scalar (reals are float32)", "",
     "the value of all elements"},
    {"dtype", ParamKind::Attribute, "dtype or None", "None",
     "element type of the result; None: that of the value"}};
constexpr Param full_like_params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "gives the shape, and the dtype by default"},
    {"fill_value", ParamKind::Tensor, "tensor of rank 0 or scalar", "", "the value of all elements"},
    {"dtype", ParamKind::Attribute, "dtype or None", "None", "element type of the result; None: that of x"}};

void require_one_value(const CallView& call) {
  dtype_of_argument(call, 1);  // a tensor or a scalar
  const TensorType* value = call.args[1].type().tensor();
  if (value && value->rank > 0) {
    call.reject("fill_value", call.span_of(1),
                fmt::format("fill_value has type {}, expected rank 0", print(call.args[1].type())));
  }
}

Type infer_full(const CallView& call) {
  require_one_value(call);
  const BroadcastShape shape = shape_argument(call, 0);
  for (const Scalar& dim : shape.dims.value_or(Dims{})) {
    if (dim.as_int().value_or(0) < 0)
      call.reject("shape", call.span_of(0), fmt::format("dimension {} is negative", *dim.as_int()));
  }
  const std::optional<DType> dtype = dtype_attribute(call, "dtype");
  if (dtype) require_in_range(call, 1, "fill_value", dtype);
  return tensor_of(shape, dtype ? dtype : dtype_of_argument(call, 1));
}

Type infer_full_like(const CallView& call) {
  require_one_value(call);
  TensorType type = call.tensor(0);
  if (const auto dtype = dtype_attribute(call, "dtype")) type.dtype = dtype;
  require_in_range(call, 1, "fill_value", type.dtype);
  return type;
}

Value evaluate(const EvalCall& c) {
  const DType dtype = *c.result_type.tensor()->dtype;
  const Tensor filling = convert_tensor(binary_family::operand_value(c, 1), dtype);
  Tensor result = Tensor::empty(dtype, result_shape(c));
  visit_dtype(dtype, [&](auto element) {
    using T = decltype(element);
    const T value = filling.view<T>()[0];
    for (T& target : result.mutable_view<T>()) target = value;
  });
  return result;
}

template <bool like>
PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  if constexpr (like) lowering.input(0);
  const binary_family::LoweredOperand value(lowering, 1);
  const Buffer result = lowering.output();
  if (const auto* scalar = c.call.args[1].type().as<ScalarType>())
    require_in_range(lowering, 1, value.element(scalar->dtype, {}), result.dtype());
  lowering.map("fill", result, [&](const Dims& i) { return value.element(result.dtype(), i); });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  Partials partials(2);
  if (!rule.differentiable(1)) return partials;
  const std::optional<DType> dtype = c.call.tensor(1).dtype;
  if (!dtype) c.call.reject("gradient", c.call.span_of(1), "the gradient needs the dtype of fill_value");
  const GraphValue total = call_op("sum", {rule.cotangent()}, {{"axis", Attribute()}, {"keepdims", false}});
  const bool same = rule.cotangent().type().dtype == dtype;
  partials[1] = (same ? total : call_op("astype", {total}, {{"dtype", *dtype}})).expr();
  return partials;
}

constexpr Sample full_samples[] = {
    {"R.shape([2, 2]), R.const(1.5, \"float32\")", "[[1.5, 1.5], [1.5, 1.5]]"},
    {"(3,), 7", "[7, 7, 7]", false},
    {"R.shape([2]), R.const(2.75, \"float32\"), dtype=\"int8\"", "[2, 2]", false},
    {"R.shape([2]), 0.1, dtype=\"float32\"", "[0.1, 0.1]", false},
    {"R.shape([]), rand((), \"float64\")"},
    {"R.shape([0, 3]), rand((), \"float64\")"},
    {"R.shape([1, 17]), rand((), \"float32\")"},
};
constexpr Sample full_like_samples[] = {
    {"[[1.0, 2.0]], R.const(1.5, \"float32\")", "[[1.5, 1.5]]"},
    {"R.const([1, 2, 3], \"int32\"), R.const(7, \"int32\")", "[7, 7, 7]", false},
    {"[1.0, 2.0], R.const(2.75, \"float32\"), dtype=\"int8\"", "[2, 2]", false},
    {"rand((), \"float64\"), rand((), \"float64\")"},
    {"rand((0, 3), \"float32\"), rand((), \"float32\")"},
    {"rand((17,), \"float32\"), rand((), \"float32\")"},
};
constexpr Reject full_rejects[] = {
    {"full.fill_value", "R.shape([2]), [1.0, 2.0]", "expected rank 0"},
    {"full.shape", "R.shape([-2]), 1.0", "is negative"},
    {"full.dtype", "R.shape([2]), 1.0, dtype=\"float7\"", "dtype is"},
};
constexpr Reject full_like_rejects[] = {
    {"full_like.fill_value", "[1.0], [1.0, 2.0]", "expected rank 0"},
    {"full_like.dtype", "[1.0], 1.0, dtype=\"float7\"", "dtype is"},
};

}  // namespace

extern const Op op_full{.name = "full",
                        .summary = "A tensor of one value.",
                        .params = full_params,
                        .infer = infer_full,
                        .eval = evaluate,
                        .lower = lower<false>,
                        .vjp = vjp,
                        .gradient_doc = "dfill_value = sum(g)",
                        .agreement = Agreement::DataMovement,
                        .samples = full_samples,
                        .rejects = full_rejects,
                        .doc =
                            "The value is converted to the dtype as astype does; without one an int gives "
                            "int64 and a real float32, as in TVM, which takes "
                            "a tensor only, and has no gradient for it."};
extern const Op op_full_like{
    .name = "full_like",
    .summary = "A tensor of one value in the shape of another.",
    .params = full_like_params,
    .infer = infer_full_like,
    .eval = evaluate,
    .lower = lower<true>,
    .vjp = vjp,
    .gradient_doc = "dfill_value = sum(g), dx = 0",
    .agreement = Agreement::DataMovement,
    .samples = full_like_samples,
    .rejects = full_like_rejects,
    .doc = "The value is converted to the dtype as astype does; a number is a scalar of int64 or float64."};

}  // namespace relish::ops_full

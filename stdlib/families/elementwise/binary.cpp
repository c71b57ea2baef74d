// Operands of elementwise binary operators: tensors or scalars.
#include "stdlib/families/elementwise/binary.h"

#include "stdlib/families/shapes/movement.h"

namespace relish::binary_family {
namespace {

bool is_scalar(const CallView& call, std::size_t i) {
  return call.args[i].type().as<ScalarType>() != nullptr;
}

BroadcastShape shape_of_operand(const CallView& call, std::size_t i) {
  if (is_scalar(call, i)) return {Dims{Scalar(1)}, 1};
  return shape_of(call.tensor(i));
}

}  // namespace

Failure at_element(Failure failure, const CallView& call, const Shape& shape, std::int64_t at) {
  failure.at(call.span);
  if (failure.error_class() != ErrorClass::Runtime) return failure;
  std::string& message = failure.diagnostics().front().message;
  message = fmt::format("{}: {},{}", call.op.name, message, at_place("the result", shape, at));
  if (message.ends_with(',')) message.pop_back();
  return failure;
}

BroadcastShape operand_shape(const CallView& call) {
  if (is_scalar(call, 0) && is_scalar(call, 1)) {
    call.reject("operands", call.span, "both operands are scalars, expected at least one tensor");
  }
  return broadcast(call, shape_of_operand(call, 0), shape_of_operand(call, 1));
}

Tensor operand_value(const EvalCall& call, std::size_t i) {
  const Value& value = call.args[i];
  if (value.is_tensor()) return value.tensor();
  const ScalarValue& scalar = value.scalar();
  const Tensor tensor = is_float(scalar.dtype) ? Tensor::scalar(scalar.dtype, scalar.real)
                                               : Tensor::scalar_int(scalar.dtype, scalar.integer);
  return tensor.reshaped({1});
}

GraphValue operand_tensor(const GraphValue& operand, const GraphValue& like) {
  const TensorType* tensor = operand.expr().type().tensor();
  if (!tensor) return operand * constant_like(like, 1);
  if (tensor->dtype != DType::Bool) return operand;
  return call_op("astype", {operand}, {{"dtype", *like.expr().type().tensor()->dtype}});
}

LoweredOperand::LoweredOperand(Lowering& lowering, std::size_t i) : lowering_(lowering) {
  const CallView& call = lowering.call();
  if (const auto* scalar = call.args[i].type().as<ScalarType>()) {
    scalar_ = lowering.loops().scalar_input(call.op.params[i].name, scalar->dtype);
  } else {
    buffer_ = lowering.input(i);
  }
}

Scalar LoweredOperand::element(DType dtype, const Dims& index) const {
  if (!buffer_.defined()) return cast(dtype, scalar_);
  return lowering_.load_as(dtype, buffer_,
                           lowering_.broadcast_index(buffer_, lowering_.result_dims(), index));
}

}  // namespace relish::binary_family

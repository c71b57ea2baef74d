// Building of gradient expressions.
#include "stdlib/families/gradient.h"

#include "ir/printer.h"

namespace relish {

const Expr& GraphValue::leaf() const {
  if (!is_leaf(node_->expr)) node_->expr = node_->builder->emit(node_->expr);
  return node_->expr;
}

const TensorType& GraphValue::type() const {
  const TensorType* tensor = expr().type().tensor();
  RELISH_CHECK(tensor != nullptr, "a gradient is made of tensors");
  return *tensor;
}

GraphValue call_op(std::string_view op, const std::vector<GraphValue>& args, Attributes attributes) {
  RELISH_CHECK(!args.empty());
  std::vector<Expr> leaves;
  for (const GraphValue& arg : args) leaves.push_back(arg.leaf());
  FunctionBuilder& builder = args.front().builder();
  return GraphValue(op_call(op, std::move(leaves), std::move(attributes), builder.origin()), builder);
}

GraphValue operator+(const GraphValue& a, const GraphValue& b) { return call_op("add", {a, b}); }
GraphValue operator-(const GraphValue& a, const GraphValue& b) { return call_op("subtract", {a, b}); }
GraphValue operator*(const GraphValue& a, const GraphValue& b) { return call_op("multiply", {a, b}); }
GraphValue operator/(const GraphValue& a, const GraphValue& b) { return call_op("divide", {a, b}); }
GraphValue operator-(const GraphValue& a) { return call_op("negative", {a}); }

GraphValue constant_like(const GraphValue& like, double value) {
  const TensorType& type = like.type();
  if (!type.dtype) {
    const Span at = like.expr().span().known() ? like.expr().span() : like.builder().origin();
    fail(ErrorClass::Type, at, "gradient.dtype",
         fmt::format("the gradient needs the dtype of a value of type {}", print(like.expr().type())));
  }
  return GraphValue(constant(Tensor::scalar(*type.dtype, value), like.builder().origin()), like.builder());
}

GraphValue shape_value(const Dims& dims, FunctionBuilder& builder) {
  return GraphValue(shape_literal(dims, builder.origin()), builder);
}

GraphValue where(const GraphValue& condition, const GraphValue& a, const GraphValue& b) {
  return call_op("where", {condition, a, b});
}

bool GradientRule::differentiable(std::size_t i) const {
  const TensorType* type = call().args[i].type().tensor();
  return type != nullptr && (!type->dtype || is_float(*type->dtype));
}

Dims GradientRule::dims(std::size_t i) const {
  const TensorType& type = call().tensor(i);
  if (auto dims = known_dims(type)) return *std::move(dims);
  call().reject("gradient", call().span_of(i),
                fmt::format("the gradient needs the shape of {}, which has type {}", call().op.params[i].name,
                            print(call().args[i].type())));
}

GraphValue GradientRule::fit(const GraphValue& partial, std::size_t i) const {
  const TensorType& type = call().tensor(i);
  if (provably_equal(known_dims(partial.type()), known_dims(type))) return partial;
  return call_op("collapse_sum_to", {partial, shape(i)});
}

}  // namespace relish

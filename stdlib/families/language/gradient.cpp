// Building of gradient expressions.
#include "stdlib/families/language/gradient.h"

#include <algorithm>

#include "ir/printer/printer.h"

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

GraphValue reshaped(const GraphValue& x, const Dims& dims) {
  const std::optional<Dims> from = known_dims(x.type());
  bool copies = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool zero = dims[i].as_int() == 0;
    copies = copies || (zero && (!from || (i < from->size() && (*from)[i].as_int() != 0)));
  }
  return call_op("reshape", {copies ? call_op("flatten", {x}) : x, shape_value(dims, x.builder())});
}

GraphValue where(const GraphValue& condition, const GraphValue& a, const GraphValue& b) {
  return call_op("where", {condition, a, b});
}

Expr tuple_of(const std::vector<GraphValue>& values, FunctionBuilder& builder) {
  std::vector<Expr> fields;
  for (const GraphValue& value : values) fields.push_back(value.leaf());
  return tuple(std::move(fields), builder.origin());
}

bool GradientRule::differentiable(std::size_t i) const {
  const auto floating = [](const Type& type) {
    const TensorType* tensor = type.tensor();
    return tensor != nullptr && (!tensor->dtype || is_float(*tensor->dtype));
  };
  const Type& type = call().args[i].type();
  if (const TupleType* fields = type.tuple())
    return std::all_of(fields->fields.begin(), fields->fields.end(), floating);
  return floating(type);
}

GraphValue GradientRule::field(const Expr& tuple, std::size_t k) const {
  if (const auto* literal = tuple.as<TupleExpr>()) return value(literal->fields.at(k));
  return value(vjp_.builder.emit(tuple_get(tuple, static_cast<int>(k), vjp_.builder.origin())));
}

std::vector<GraphValue> GradientRule::fields(std::size_t i) const {
  const TupleType* type = call().args[i].type().tuple();
  RELISH_CHECK(type != nullptr, "a tuple of tensors has a tuple type");
  std::vector<GraphValue> values;
  for (std::size_t k = 0; k < type->fields.size(); ++k) values.push_back(field(call().args[i], k));
  return values;
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

// Pushing and popping tuples of values.
#include "transform/gradient/kept_stack.h"

#include <algorithm>

namespace relish {
namespace {

Type with_open_sizes(const Type& type) {
  const auto open = [](const std::vector<Scalar>& dims) {
    return std::any_of(dims.begin(), dims.end(), [](const Scalar& dim) { return !dim.as_int(); });
  };
  if (const TupleType* tuple = type.tuple()) {
    TupleType result;
    for (const Type& field : tuple->fields) result.fields.push_back(with_open_sizes(field));
    return result;
  }
  if (const TensorType* tensor = type.tensor(); tensor && tensor->shape && open(*tensor->shape))
    return TensorType{tensor->dtype, std::nullopt, tensor->rank};
  if (const auto* shape = type.as<ShapeType>(); shape && shape->dims && open(*shape->dims)) {
    ShapeType result;
    result.rank = shape->rank;
    return result;
  }
  if (const auto* stack = type.as<StackType>())
    return StackType{std::make_shared<const Type>(with_open_sizes(*stack->element))};
  return type;
}

}  // namespace

Type kept_stack_type(const std::vector<Var>& values) {
  TupleType element;
  for (const Var& value : values) element.fields.push_back(with_open_sizes(value.type()));
  return StackType{std::make_shared<const Type>(element)};
}

Expr empty_stack(const Type& type, const std::string& hint, FunctionBuilder& builder) {
  const Span span = builder.origin();
  const Expr none = builder.emit(op_call("stack.new", {}, {}, span), "lv");
  Binding cast;
  cast.kind = MatchCast{Var(builder.fresh_name(hint), type, false, span), none, type};
  cast.span = span;
  builder.append(cast);
  return Expr(cast.var());
}

Expr pushed(const Expr& stack, const std::vector<Var>& values, const std::string& hint,
            FunctionBuilder& builder) {
  const Expr top = tuple(std::vector<Expr>(values.begin(), values.end()), builder.origin());
  return builder.emit(op_call("stack.push", {stack, top}, {}, builder.origin()), hint);
}

Expr popped(const Expr& stack, const std::vector<Var>& values, const std::string& hint, VarMap& vars,
            FunctionBuilder& builder, const ScalarMap& scalars) {
  const Span span = builder.origin();
  const Expr both = builder.emit(op_call("stack.pop", {stack}, {}, span), "lv");
  const Expr rest = builder.emit(tuple_get(both, 0, span), hint);
  const Expr top = builder.emit(tuple_get(both, 1, span), "lv");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Expr field = tuple_get(top, static_cast<int>(i), span);
    const Type type = substitute(values[i].type(), scalars);
    const bool open = !same_type(field.type(), type);
    Expr value = builder.emit(field, open ? "lv" : values[i].name());
    if (open) {
      Binding cast;
      cast.kind = MatchCast{Var(builder.fresh_name(values[i].name()), type, false, span), value, type};
      cast.span = span;
      builder.append(cast);
      value = Expr(cast.var());
    }
    vars.insert_or_assign(values[i].id(), value);
  }
  return rest;
}

}  // namespace relish

// Operator calls on values.
#include "ir/operators/op_evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/calls/entry.h"
#include "ir/operators/op.h"
#include "support/failure.h"

namespace relish {
namespace {

// Whether the value has a leaf of its own: what is text or a function has none.
bool has_leaf(const Value& value) {
  if (value.is_tuple()) return std::all_of(value.fields().begin(), value.fields().end(), has_leaf);
  return value.is_tensor() || value.is_scalar() || value.is_shape();
}

// Whether a value can be the argument: one whose type the text leaves open may turn out to be of any kind.
bool is_of_kind(const Value& value, ParamKind kind) {
  switch (kind) {
    case ParamKind::Scalar:
      return value.is_scalar();
    case ParamKind::Tensor:
      return value.is_tensor() || value.is_scalar();
    case ParamKind::TensorTuple:
      return value.is_tuple();
    case ParamKind::Shape:
      return value.is_shape() || value.is_tuple();
    default:
      return true;
  }
}

void check_kinds(const OpCall& call, const std::vector<Value>& args, Span span) {
  for (std::size_t i = 0; i < args.size() && i < call.args.size(); ++i) {
    std::size_t position = 0;  // of the parameter: attributes are no arguments
    const Param* param = nullptr;
    for (const Param& each : call.op->params) {
      if (each.kind == ParamKind::Attribute) continue;
      if (position++ == i) param = &each;
    }
    const bool open = param && (param->kind == ParamKind::Scalar || call.args[i].type().as<AnyType>());
    if (!open || is_of_kind(args[i], param->kind)) continue;
    fail(
        ErrorClass::Runtime, span, "run.argument",
        fmt::format("{}: {} is {}; expected {}", call.op->name, param->name, describe(args[i]), param->type));
  }
}

// Whether the text itself has a negative number there: a wish, as to infer a dimension, and no size.
bool is_written_negative(const Expr& arg, std::size_t dim) {
  const auto* shape = arg.as<ShapeLiteral>();
  return shape && dim < shape->dims.size() && shape->dims[dim].as_int().value_or(0) < 0;
}

// A shape with a negative dimension is no tensor's, in the words of whoever makes one: compiled code tells it
// where it makes the result.
void refuse_negative_shapes(const OpCall& call, const std::vector<Value>& args, Span span) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!args[i].is_shape()) continue;
    const std::vector<std::int64_t>& dims = args[i].shape().dims;
    bool negative = false;
    for (std::size_t d = 0; d < dims.size(); ++d)
      negative = negative || (dims[d] < 0 && !is_written_negative(call.args[i], d));
    if (!negative) continue;
    try {
      element_count(dims);
    } catch (Failure& failure) {
      failure.at(span);
      throw;
    }
  }
}

}  // namespace

Expr concrete_leaf(const Value& value, const Expr& written) {
  if (value.is_shape()) {
    std::vector<Scalar> dims(value.shape().dims.begin(), value.shape().dims.end());
    return shape_literal(std::move(dims), written.span());
  }
  if (value.is_scalar()) {
    const ScalarValue& scalar = value.scalar();
    return scalar_value(is_float(scalar.dtype) ? float_literal(scalar.dtype, scalar.real)
                                               : int_literal(scalar.dtype, scalar.integer),
                        written.span());
  }
  // The fields one by one: scalars among them are numbers for inference.
  if (value.is_tuple() && has_leaf(value)) {
    std::vector<Expr> fields;
    for (const Value& field : value.fields()) fields.push_back(concrete_leaf(field, written));
    return tuple(std::move(fields), written.span());
  }
  if (value.is_tensor() || value.is_tuple()) return var_ref(Var("x", type_of(value)), written.span());
  return written;
}

Value evaluate_operator(const OpCall& call, const std::vector<Value>& args, Span span, const Type* of_text) {
  RELISH_CHECK(call.op->eval != nullptr, std::string(call.op->name));
  check_kinds(call, args, span);
  std::vector<Expr> leaves;
  for (std::size_t i = 0; i < args.size(); ++i) leaves.push_back(concrete_leaf(args[i], call.args[i]));
  const CallView view{*call.op, leaves, call.attributes, span, call.args, of_text};
  try {
    // Inference on the real shapes: it gives the result's shape and refuses what only the values show.
    const Type result = call.op->infer(view);
    Value value = call.op->eval(EvalCall{view, args, result});
    // What only has effects gives the empty tuple, as its type says.
    return value.is_void() ? Value::tuple({}) : std::move(value);
  } catch (Failure& failure) {
    const std::string of_shape = std::string(short_name_of(*call.op)) + ".shape";
    if (failure.diagnostics().front().id == of_shape) refuse_negative_shapes(call, args, span);
    for (Diagnostic& diagnostic : failure.diagnostics()) {
      if (diagnostic.error_class != ErrorClass::Type) continue;
      diagnostic.error_class = ErrorClass::Runtime;
      diagnostic.span = span;  // compiled code knows no place within the call
    }
    failure.at(span);
    throw;
  }
}

}  // namespace relish

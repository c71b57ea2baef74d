// Operator calls on values.
#include "ir/op_evaluation.h"

#include <algorithm>

#include "ir/entry.h"
#include "ir/op.h"
#include "support/failure.h"

namespace relish {
namespace {

// Whether the value has a leaf of its own: what is text or a function has none.
bool has_leaf(const Value& value) {
  if (value.is_tuple()) return std::all_of(value.fields().begin(), value.fields().end(), has_leaf);
  return value.is_tensor() || value.is_scalar() || value.is_shape();
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

Value evaluate_operator(const OpCall& call, const std::vector<Value>& args, Span span) {
  RELISH_CHECK(call.op->eval != nullptr, std::string(call.op->name));
  std::vector<Expr> leaves;
  for (std::size_t i = 0; i < args.size(); ++i) leaves.push_back(concrete_leaf(args[i], call.args[i]));
  const CallView view{*call.op, leaves, call.attributes, span};
  try {
    // Inference on the real shapes: it gives the result's shape and refuses what only the values show.
    const Type result = call.op->infer(view);
    Value value = call.op->eval(EvalCall{view, args, result});
    // What only has effects gives the empty tuple, as its type says.
    return value.is_void() ? Value::tuple({}) : std::move(value);
  } catch (Failure& failure) {
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

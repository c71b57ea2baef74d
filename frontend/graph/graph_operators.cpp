// Signs on values of Relax functions: on tensors they are operators, on scalars arithmetic, on tuples their
// fields in one.
#include <fmt/format.h>

#include "frontend/graph/compared_texts.h"
#include "frontend/graph/graph_hints.h"
#include "frontend/graph/graph_values.h"
#include "frontend/types/attribute_reader.h"
#include "ir/printer/printer.h"
#include "runtime/literal.h"

namespace relish {
namespace {

bool is_plain_number(const ast::Expr& expr) {
  return expr.as<ast::IntValue>() || expr.as<ast::FloatValue>() || expr.as<ast::BoolValue>();
}

// The operator that a sign on tensors stands for; empty when there is none.
std::string_view operator_name(ast::Operator op) {
  switch (op) {
    case ast::Operator::Add:
      return "add";
    case ast::Operator::Sub:
      return "subtract";
    case ast::Operator::Mul:
      return "multiply";
    case ast::Operator::Div:
      return "divide";
    case ast::Operator::FloorDiv:
      return "floor_divide";
    case ast::Operator::Mod:
      return "mod";
    case ast::Operator::Pow:
      return "power";
    case ast::Operator::MatMul:
      return "matmul";
    case ast::Operator::Lt:
      return "less";
    case ast::Operator::Le:
      return "less_equal";
    case ast::Operator::Gt:
      return "greater";
    case ast::Operator::Ge:
      return "greater_equal";
    default:
      return {};
  }
}

// What is written for the other signs: the operator, of bools and of integers.
std::string_view called_instead(ast::Operator op, bool bools) {
  switch (op) {
    case ast::Operator::Eq:
      return "equal";
    case ast::Operator::Ne:
      return "not_equal";
    case ast::Operator::BitAnd:
      return bools ? "logical_and" : "bitwise_and";
    case ast::Operator::BitOr:
      return bools ? "logical_or" : "bitwise_or";
    case ast::Operator::BitXor:
      return bools ? "logical_xor" : "bitwise_xor";
    case ast::Operator::ShiftLeft:
      return "left_shift";
    case ast::Operator::ShiftRight:
      return "right_shift";
    default:
      return {};
  }
}

// x.shape[:-1] + (2, 2): of two shapes, or of one and a tuple of its elements, one shape.
template <class KnownDims>
std::optional<Expr> joined_shapes(const Expr& left, const Expr& right, Span span,
                                  const KnownDims& known_dims) {
  if (!left.type().as<ShapeType>() && !right.type().as<ShapeType>()) return std::nullopt;
  std::vector<Scalar> dims;
  for (const Expr* each : {&left, &right}) {
    if (const ShapeType* shape = each->type().as<ShapeType>()) {
      if (!shape->dims) return std::nullopt;
      dims.insert(dims.end(), shape->dims->begin(), shape->dims->end());
      continue;
    }
    const auto fields = known_dims(*each);
    if (!fields) return std::nullopt;
    dims.insert(dims.end(), fields->begin(), fields->end());
  }
  return shape_literal(std::move(dims), span);
}

// No scalar of a function has such a value; tensors have.
void refuse_power(const Scalar& scalar, Span at) {
  if (!scalar.as<IntrinsicCall>()) return;
  type_error(
      at, "scalar.form",
      "found '**' of scalars, which functions do not compute; write R.power(x, y) of tensors, where a size "
      "is R.full((), T.float32(n), \"float32\")");
}

}  // namespace

// A number waits for the operand that gives its dtype; a list of numbers is a tuple where no tensor stands
// beside it.
GraphValues::Operand GraphValues::operand(const ast::Expr& written) {
  const auto* numbers = written.as<ast::NumberListValue>();
  if (!numbers) return {&written, is_number(written) ? Expr() : leaf(written)};
  std::vector<Expr> fields;
  for (const std::int64_t value : numbers->integers)
    fields.push_back(scalar_value(int_literal(DType::Int64, value, written.span), written.span));
  for (const double value : numbers->reals)
    fields.push_back(scalar_value(float_literal(DType::Float64, value, written.span), written.span));
  return {&written, tuple(std::move(fields), written.span)};
}

// Where the other operand is a tensor, a list of numbers is one too, and a name of a number, `s = 0.5`, is
// that number: also where it is of the tensor's dtype, since a scalar there would make a result of rank 1.
void GraphValues::take_numbers(Operand& operand, const Operand& other) {
  const TensorType* tensor = other.value.defined() ? other.value.type().tensor() : nullptr;
  if (!tensor || !operand.value.defined() || !operand.written) return;
  const auto* scalar = operand.value.type().as<ScalarType>();
  if (scalar && tensor->dtype) {
    if (const ast::Expr* number = named_number(*operand.written)) operand = {number, Expr()};
    return;
  }
  if (!is_number_list(*operand.written)) return;
  if (!tensor->dtype) {
    type_error(operand.written->span, "literal.tensor",
               "found a list of numbers beside a tensor of unknown dtype; expected R.const(value, dtype)");
  }
  operand.value = literal_beside(*operand.written, *tensor->dtype);
}

// Arithmetic of numbers has Python's value, `1 / 3` as well as `1 / k` behind `k = 3`: scalars would
// truncate.
std::optional<Expr> GraphLiterals::folded_number(const ast::Expr& expr) {
  const ast::Expr* number = named_number(expr);
  const auto value = literal_arithmetic(number ? *number : expr);
  if (!value) return std::nullopt;
  const auto* integer = std::get_if<std::int64_t>(&*value);
  return scalar_value(integer ? int_literal(DType::Int64, *integer, expr.span)
                              : float_literal(DType::Float64, std::get<double>(*value), expr.span),
                      expr.span);
}

Expr GraphValues::chain(const ast::Expr& expr, const ast::Expr& first, const std::vector<ast::Link>& links) {
  if (auto number = folded_number(expr)) return *number;
  Operand left = operand(first);
  Expr result;
  for (const ast::Link& link : links) {
    if (result.defined()) left = {nullptr, as_leaf(result)};
    result =
        combine(link.op, link.op_span, left, operand(*link.operand), cover(first.span, link.operand->span));
  }
  return result;
}

// The fields of both tuples in one.
Expr GraphValues::concatenation(const Expr& left, const Expr& right, Span span) {
  std::vector<Expr> fields;
  for (const Expr* tuple : {&left, &right}) {
    auto* written = tuple->as<TupleExpr>();
    for (std::size_t i = 0; i < tuple->type().tuple()->fields.size(); ++i) {
      if (!written && !in_dataflow_) open_plain_block();
      fields.push_back(written ? written->fields[i]
                               : builder_.emit(tuple_get(*tuple, static_cast<int>(i), span)));
    }
  }
  return tuple(std::move(fields), span);
}

Expr GraphValues::combine(ast::Operator op, Span op_span, Operand left_operand, Operand right_operand,
                          Span span) {
  take_numbers(left_operand, right_operand);
  take_numbers(right_operand, left_operand);
  auto& [left_written, left] = left_operand;
  auto& [right_written, right] = right_operand;
  const bool left_number = !left.defined(), right_number = !right.defined();
  if (const auto decided = compared_texts(op, op_span, left, right))
    return scalar_value(bool_literal(*decided), span);
  // Two scalars: numbers, symbolic dimensions, scalar parameters.
  std::optional<Scalar> a, b;
  if (left_number)
    a = scalars_.read(*left_written);
  else
    a = known_scalar(left);
  if (right_number)
    b = scalars_.read(*right_written);
  else
    b = known_scalar(right);
  // Arithmetic of numbers is a scalar with a dtype; a plain number takes that of the other.
  if (a && b) {
    const bool left_plain = left_number && is_plain_number(*left_written);
    const bool right_plain = right_number && is_plain_number(*right_written);
    const Scalar result = scalars_.combine(op, {*a, left_plain}, {*b, right_plain}, span).value;
    refuse_power(result, op_span);
    return scalar_value(result, span);
  }

  if (const std::string_view name = operator_name(op);
      !name.empty() && (holes_.is_hole(left) || holes_.is_hole(right)))
    return combined_with_hole(name, left_operand, right_operand, span);
  const Type& type = left_number ? right.type() : left.type();
  const Type& other = right_number ? left.type() : right.type();
  if (!left_number && left.type().is_error()) throw ReadContext::Silent{};
  if (!right_number && right.type().is_error()) throw ReadContext::Silent{};
  if (op == ast::Operator::Add && !left_number && !right_number) {
    if (left.type().tuple() && right.type().tuple()) return concatenation(left, right, span);
    if (auto shape = joined_shapes(left, right, span, [&](const Expr& each) { return known_dims(each); }))
      return *shape;
  }
  std::string_view name = operator_name(op);
  const TensorType* tensor = left_number ? right.type().tensor() : left.type().tensor();
  if (!tensor && right.defined() && right.type().tensor()) tensor = right.type().tensor();
  if (!tensor) {
    // A scalar that a call, loop or branch gives is no expression that the text could name.
    const bool given = (!left_number && !a && type.as<ScalarType>()) ||
                       (!right_number && !b && right.type().as<ScalarType>());
    if (given && (left_number || type.as<ScalarType>()) && (right_number || right.type().as<ScalarType>())) {
      type_error(
          op_span, "operator.given_scalar",
          fmt::format("found '{}' on a scalar that a call, loop or branch gives; expected 0-d tensors, "
                      "as R.const(0, \"int64\")",
                      ast::text_of(op)));
    }
    type_error(op_span, "operator.operands",
               fmt::format("found '{}' between {} and {}; expected tensors", ast::text_of(op), print(type),
                           print(other)));
  }
  // What a loop carries has the type that it begins with.
  const Expr& one = left_number || (left.defined() && left.type().tensor()) ? right : left;
  const auto* scalar = one.defined() ? one.type().as<ScalarType>() : nullptr;
  if (scalar && tensor->dtype && scalar->dtype != *tensor->dtype && !known_scalar(one)) {
    type_error(
        op_span, "operator.given_scalar",
        fmt::format("found '{}' between a tensor of {} and a scalar of {} that a call, loop or branch gives; "
                    "begin with a tensor, as R.const(0, \"{}\")",
                    ast::text_of(op), name_of(*tensor->dtype), name_of(scalar->dtype),
                    name_of(*tensor->dtype)));
  }
  if (name.empty()) {
    const std::string_view called = called_instead(op, tensor->dtype && is_bool(*tensor->dtype));
    // What a chain has so far is written nowhere by itself.
    const auto text = [](const ast::Expr* written, std::string_view otherwise) {
      return written ? operand_text(*written, otherwise) : std::string(otherwise);
    };
    const std::string advice =
        called.empty()
            ? "expected an operator of R"
            : fmt::format("write R.{}({}, {})", called, text(left_written, "x"), text(right_written, "y"));
    type_error(op_span, "operator.tensor",
               fmt::format("found '{}' on tensors; {}", ast::text_of(op), advice));
  }
  if ((left_number || right_number) && !tensor->dtype) {
    type_error(left_number ? left_written->span : right_written->span, "literal.tensor",
               "found a number beside a tensor of unknown dtype; expected R.const(value, dtype)");
  }
  if (left_number) left = literal_beside(*left_written, *tensor->dtype);
  if (right_number) right = literal_beside(*right_written, *tensor->dtype);
  const Op* found = find_op(name);
  if (!found) {
    type_error(
        op_span, "op.unknown",
        fmt::format("found '{}' on tensors; the operator R.{} is not supported", ast::text_of(op), name));
  }
  return make_op_call(*found, {left, right}, {}, span);
}

Expr GraphValues::prefix(const ast::Expr& expr, const ast::Prefix& prefix) {
  if (auto number = folded_number(expr)) return *number;
  Expr operand = leaf(*prefix.operand);
  if (auto scalar = known_scalar(operand)) {
    if (prefix.op == ast::PrefixOperator::Plus) return operand;
    if (prefix.op == ast::PrefixOperator::Minus) {
      ScalarOperand minus_one{int_literal(DType::Int64, -1, expr.span), true};
      return scalar_value(scalars_.combine(ast::Operator::Mul, {*scalar}, minus_one, expr.span).value,
                          expr.span);
    }
    if (prefix.op == ast::PrefixOperator::Not)
      return scalar_value(logical_not(*scalar, expr.span), expr.span);
  }
  if (operand.type().is_error()) throw ReadContext::Silent{};
  if (prefix.op == ast::PrefixOperator::Not) {
    require_truth(operand, "not", expr.span);
    return make_op_call(*find_op("logical_not"), {operand}, {}, expr.span);
  }
  std::string_view name;
  std::string hint;
  switch (prefix.op) {
    case ast::PrefixOperator::Minus:
      name = "negative";
      break;
    case ast::PrefixOperator::Plus:
      hint = "write the operand alone";
      break;
    case ast::PrefixOperator::Not:
      break;  // told above
    case ast::PrefixOperator::Invert:
      hint = fmt::format("write R.{}({})",
                         operand.type().tensor() && operand.type().tensor()->dtype == DType::Bool
                             ? "logical_not"
                             : "bitwise_not",
                         operand_text(*prefix.operand, "x"));
      break;
  }
  if (name.empty() || !operand.type().tensor()) {
    type_error(expr.span, "operator.tensor",
               fmt::format("found '{}' on {}; {}", ast::text_of(prefix.op), print(operand.type()),
                           hint.empty() ? "expected a tensor" : hint));
  }
  const Op* op = find_op(name);
  if (!op)
    type_error(expr.span, "op.unknown",
               fmt::format("found '-' on a tensor; the operator R.{} is not supported", name));
  return make_op_call(*op, {operand}, {}, expr.span);
}

}  // namespace relish

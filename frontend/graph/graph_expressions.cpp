// Values of Relax functions: names, tuples, operators on tensors and on scalars, calls of functions.
#include <fmt/format.h>

#include "frontend/graph/compared_texts.h"
#include "frontend/graph/graph_hints.h"
#include "frontend/graph/graph_values.h"
#include "ir/printer/printer.h"
#include "runtime/literal.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {

GraphValues::GraphValues(ReadContext& context, Globals& globals, const ast::FunctionDefinition& definition,
                         GraphValues* outer)
    : GraphLiterals(context, globals, definition, outer),
      scalars_(context, *this, DType::Int64),
      types_(context, *this, this) {}
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

Expr ill_typed(Span span, ExprKind kind) {
  return Expr(std::make_shared<const ExprNode>(ExprNode{span, Type(TypeKind(ErrorType{})), std::move(kind)}));
}

}  // namespace

// Inference that fails is reported, and the value goes on with the error type: the text can still be printed.
Expr GraphValues::attempted(const std::function<Expr()>& make, Span span) {
  Expr result;
  bool good = context_.attempt_typed([&] {
    try {
      result = make();
    } catch (Failure& failure) {
      failure.at(span);
      throw;
    }
  });
  return good ? result : Expr();
}

Expr GraphValues::checked(const std::function<Expr()>& make, Span span, ExprKind kind) {
  Expr result = attempted(make, span);
  return result.defined() ? result : ill_typed(span, std::move(kind));
}

Expr GraphValues::make_op_call(const Op& op, std::vector<Expr> args, Attributes attributes, Span span) {
  if (holes_.among(args)) return call_with_holes(op, std::move(args), std::move(attributes), span);
  // The commonest of all: what is for the ill-typed is made for them only.
  Expr result = attempted([&] { return op_call(op, args, attributes, span); }, span);
  if (result.defined()) return result;
  return ill_typed(span, OpCall{&op, std::move(args), std::move(attributes)});
}

Expr GraphValues::leaf(const ast::Expr& expr) { return as_leaf(value(expr)); }

Expr GraphValues::as_leaf(Expr value) {
  if (is_leaf(value)) return value;
  if (!in_dataflow_) open_plain_block();
  if (!holes_.any()) return builder_.emit(std::move(value));
  Expr bound = builder_.emit(value);
  holes_.stands_for(*bound.as_var(), value);
  return bound;
}

namespace {

// What a method or subscript is applied to, when that is a call or subscript itself; else null.
const ast::Expr* receiver_of(const ast::Expr& expr) {
  const ast::Expr* object = nullptr;
  if (auto* call = expr.as<ast::Call>()) {
    if (auto* method = call->callee->as<ast::Attribute>()) object = method->object.get();
  } else if (auto* subscript = expr.as<ast::Subscript>()) {
    object = subscript->object.get();
  }
  return object && (object->as<ast::Call>() || object->as<ast::Subscript>()) ? object : nullptr;
}

}  // namespace

// A long chain of methods and subscripts is built from its innermost end, so that it needs no stack as deep
// as it is long.
Expr GraphValues::value(const ast::Expr& expr) {
  if (!receivers_.empty()) {
    if (auto built = receivers_.find(&expr); built != receivers_.end()) return built->second;
  }
  constexpr std::size_t shortest = 16;
  std::vector<const ast::Expr*> chain;
  for (const ast::Expr* at = receiver_of(expr); at && !receivers_.count(at); at = receiver_of(*at))
    chain.push_back(at);
  if (chain.size() < shortest) return single_value(expr);
  for (std::size_t i = chain.size(); i-- > 0;) receivers_.insert_or_assign(chain[i], leaf(*chain[i]));
  Expr result = single_value(expr);
  for (const ast::Expr* at : chain) receivers_.erase(at);
  return result;
}

Expr GraphValues::single_value(const ast::Expr& expr) {
  if (auto* v = expr.as<ast::Name>()) return name_value(expr, v->id);
  if (auto* v = expr.as<ast::Hole>()) return hole(*v, expr.span);
  if (expr.as<ast::IntValue>() || expr.as<ast::FloatValue>() || expr.as<ast::BoolValue>()) {
    return scalar_value(scalars_.read(expr), expr.span);
  }
  if (auto* v = expr.as<ast::StringValue>()) return string_literal(v->value, expr.span);
  if (auto* v = expr.as<ast::TupleValue>()) return tuple_of(v->items, expr.span);
  if (auto* v = expr.as<ast::ListValue>()) return tuple_of(v->items, expr.span);
  if (auto* v = expr.as<ast::Call>()) return call(expr, *v);
  if (auto* v = expr.as<ast::Subscript>()) return subscript(expr, *v);
  if (auto* v = expr.as<ast::Prefix>()) return prefix(expr, *v);
  if (auto* v = expr.as<ast::Chain>()) return chain(expr, *v->first, v->links);
  if (auto* v = expr.as<ast::Comparison>()) return comparison(expr, *v);
  if (auto* v = expr.as<ast::Logic>()) return logic(expr, *v);
  if (auto* v = expr.as<ast::Conditional>()) return conditional(expr, *v);
  if (auto* attribute = expr.as<ast::Attribute>()) {
    if (auto inspected = inspected_value(expr, *attribute)) return *inspected;
    if (auto global = module_member(expr)) {
      auto meaning = globals_.find_global(*global, expr.span);
      if (!meaning) unknown_name(*global, expr.span);
      return meaning->reference;
    }
    std::string name = context_.namespaces.canonical(expr);
    if (name.substr(0, 2) == "R." || name.substr(0, 2) == "T.") {
      type_error(expr.span, "expression.value",
                 fmt::format("found '{}' without its arguments", printable(name)));
    }
    const std::string foreign = is_value(*attribute->object) ? "" : library_hint(*attribute);
    type_error(expr.span, "attribute.value",
               fmt::format("found {} in an R.function{}", ast::describe(expr),
                           is_value(*attribute->object) ? attribute_hint(*attribute)
                           : foreign.empty()            ? "; expected an operator of R"
                                                        : foreign));
  }
  if (expr.as<ast::NoneValue>()) type_error(expr.span, "expression.value", "found None; expected a value");
  if (expr.as<ast::NumberListValue>()) {
    type_error(expr.span, "expression.value",
               "found a list of numbers; expected R.const([...], \"float32\")");
  }
  if (expr.as<ast::Unsupported>() || expr.as<ast::Lambda>() || expr.as<ast::Comprehension>() ||
      expr.as<ast::Ellipsis>()) {
    type_error(
        expr.span, "unsupported.expression",
        fmt::format(
            "found {}, which is not supported{}", ast::describe(expr),
            expr.as<ast::Comprehension>()
                ? "; write the items out, [x * 0, x * 1], or fill a tensor in a loop with R.slice_scatter"
                : ""));
  }
  type_error(expr.span, "expression.value", fmt::format("found {}; expected a value", ast::describe(expr)));
}

Expr GraphValues::name_value(const ast::Expr& expr, const std::string& name) {
  if (Entry* entry = look_up(name)) {
    if (auto* bound = std::get_if<Bound>(&entry->meaning)) return var_ref(bound->var, expr.span);
    if (auto* scalar = std::get_if<Scalar>(&entry->meaning)) return scalar_value(*scalar, expr.span);
    if (std::get_if<Refused>(&entry->meaning)) throw ReadContext::Silent{};
    if (auto* hidden = std::get_if<Hidden>(&entry->meaning)) {
      std::vector<DiagnosticNote> notes{{entry->span, "it is bound here"}};
      if (hidden->behind.known())
        notes.push_back(hidden->missing ? put_below(hidden->behind, fmt::format("R.output({})", name))
                                        : insert_here(hidden->behind, (hidden->first ? "" : ", ") + name));
      fail(ErrorClass::Type, expr.span, "dataflow.local",
           fmt::format("found '{}', which is local to a dataflow block that has ended; list it in R.output",
                       printable(name)),
           std::move(notes));
    }
    if (auto* unavailable = std::get_if<Unavailable>(&entry->meaning)) {
      fail(ErrorClass::Type, expr.span, "name.unavailable",
           fmt::format("found '{}', {}", printable(name), unavailable->why),
           {{entry->span, unavailable->note}});
    }
    if (std::get_if<Device>(&entry->meaning)) {
      type_error(expr.span, "name.device",
                 fmt::format("found the device '{}' as a value; expected it as dst_vdevice of R.to_vdevice",
                             printable(name)));
    }
    type_error(
        expr.span, "name.module",
        fmt::format("found the module '{}' as a value; expected one of its functions", printable(name)));
  }
  if (symbols_.declares(name))
    return scalar_value(std::get<Scalar>(symbols_.find(name, expr.span)), expr.span);
  if (auto meaning = globals_.find_global(name, expr.span)) return meaning->reference;
  if (globals_.is_module(name)) {
    type_error(
        expr.span, "name.module",
        fmt::format("found the module '{}' as a value; expected one of its functions", printable(name)));
  }
  unknown_name(name, expr.span);
}

// The function that `cls.f` or `Module.f` names; nothing for any other expression.
Expr GraphValues::tuple_of(const std::vector<ast::ExprPtr>& items, Span at) {
  std::vector<Expr> fields;
  fields.reserve(items.size());
  add_items(items, fields);
  return tuple(std::move(fields), at);
}

// A starred item stands for the fields of a tuple.
void GraphValues::add_items(const std::vector<ast::ExprPtr>& items, std::vector<Expr>& into) {
  for (const ast::ExprPtr& item : items) {
    auto* starred = item->as<ast::Starred>();
    if (!starred) {
      into.push_back(leaf(*item));
      continue;
    }
    const Expr whole = leaf(*starred->value);
    if (whole.type().is_error()) throw ReadContext::Silent{};
    if (!whole.type().tuple()) {
      type_error(item->span, "expression.star",
                 fmt::format("found a starred value of type {}; expected a tuple whose fields are known",
                             print(whole.type())));
    }
    for (Expr& field : fields_of(whole, item->span)) into.push_back(std::move(field));
  }
}

std::vector<Expr> GraphValues::fields_of(const Expr& tuple, Span span) {
  if (auto* written = tuple.as<TupleExpr>()) return written->fields;
  std::vector<Expr> fields;
  for (std::size_t i = 0; i < tuple.type().tuple()->fields.size(); ++i) {
    if (!in_dataflow_) open_plain_block();
    fields.push_back(builder_.emit(tuple_get(tuple, static_cast<int>(i), span)));
  }
  return fields;
}

std::optional<Scalar> GraphValues::known_scalar(const Expr& value) {
  if (auto* scalar = value.as<ScalarValueExpr>()) return scalar->value;
  const Var* var = value.as_var();
  if (!var) return std::nullopt;
  Entry* entry = look_up(var->name());
  auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
  if (bound && bound->var == *var) return bound->scalar;
  return std::nullopt;
}

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
// that number where it is of another dtype.
void GraphValues::take_numbers(Operand& operand, const Operand& other) {
  const TensorType* tensor = other.value.defined() ? other.value.type().tensor() : nullptr;
  if (!tensor || !operand.value.defined() || !operand.written) return;
  const auto* scalar = operand.value.type().as<ScalarType>();
  if (scalar && tensor->dtype && scalar->dtype != *tensor->dtype) {
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

Expr GraphValues::chain(const ast::Expr& expr, const ast::Expr& first, const std::vector<ast::Link>& links) {
  Operand left = operand(first);
  Expr result;
  for (const ast::Link& link : links) {
    if (result.defined()) left = {nullptr, as_leaf(result)};
    result =
        combine(link.op, link.op_span, left, operand(*link.operand), cover(first.span, link.operand->span));
  }
  (void)expr;
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
    // No scalar of a function has such a value; tensors have.
    if (result.as<IntrinsicCall>()) {
      type_error(
          op_span, "scalar.form",
          "found '**' of scalars, which functions do not compute; write R.power(x, y) of tensors, where a size "
          "is R.full((), T.float32(n), \"float32\")");
    }
    return scalar_value(result, span);
  }

  if (const std::string_view name = operator_name(op);
      !name.empty() && (holes_.is_hole(left) || holes_.is_hole(right)))
    return combined_with_hole(name, left_operand, right_operand, span);
  const Type& type = left_number ? right.type() : left.type();
  const Type& other = right_number ? left.type() : right.type();
  if (!left_number && left.type().is_error()) throw ReadContext::Silent{};
  if (!right_number && right.type().is_error()) throw ReadContext::Silent{};
  if (op == ast::Operator::Add && !left_number && !right_number && left.type().tuple() &&
      right.type().tuple())
    return concatenation(left, right, span);
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

Expr GraphValues::subscript(const ast::Expr& expr, const ast::Subscript& subscript) {
  if (auto constant = metadata_constant(expr, subscript)) return *constant;
  if (auto inspected = inspected_axis(expr, subscript)) return *inspected;
  Expr object = leaf(*subscript.object);
  if (object.type().is_error()) throw ReadContext::Silent{};
  auto* index =
      subscript.items.size() == 1 && !subscript.comma ? subscript.items[0]->as<ast::IntValue>() : nullptr;
  if (object.type().tensor()) {
    type_error(expr.span, "subscript.tensor",
               fmt::format("found [] on a tensor in an R.function, which takes fields of tuples only{}",
                           subscript_hint(subscript)));
  }
  const std::size_t field_count = object.type().tuple() ? object.type().tuple()->fields.size() : 0;
  if (index && index->value < 0 && field_count > 0 &&
      index->value >= -static_cast<std::int64_t>(field_count)) {
    // From the end, as in Python.
    const ast::IntValue from_begin{index->value + static_cast<std::int64_t>(field_count)};
    if (auto* fields = object.as<TupleExpr>())
      return fields->fields[static_cast<std::size_t>(from_begin.value)];
    return tuple_get(object, static_cast<int>(from_begin.value), expr.span);
  }
  if (!index) {
    type_error(expr.span, "subscript.index",
               fmt::format("found {} as the index of a tuple; expected a plain integer",
                           ast::describe(*subscript.items[0])));
  }
  // The field of a tuple that is written out is the field itself.
  if (auto* fields = object.as<TupleExpr>();
      fields && index->value >= 0 && static_cast<std::size_t>(index->value) < fields->fields.size()) {
    return fields->fields[static_cast<std::size_t>(index->value)];
  }
  if (const TupleType* fields = object.type().tuple();
      fields && (index->value < 0 || index->value > INT32_MAX)) {
    type_error(
        expr.span, "subscript.index",
        fmt::format("index {} is out of range for a tuple of {}", index->value, fields->fields.size()));
  }
  std::int64_t at = index->value < 0 || index->value > INT32_MAX ? INT32_MAX : index->value;
  try {
    return tuple_get(object, static_cast<int>(at), expr.span);
  } catch (Failure& failure) {
    // A tuple of one has one index; an index that is the number of fields counts from 1.
    const TupleType* tuple = object.type().tuple();
    const std::size_t fields = tuple ? tuple->fields.size() : 0;
    if (fields == 1 || (fields > 0 && static_cast<std::size_t>(at) == fields))
      failure.diagnostics()[0].notes.push_back(
          write_here(subscript.items[0]->span, fmt::format("{}", fields - 1)));
    throw;
  }
}

// Whether a value of type `value` may turn out not to be what `wanted` says of it.
bool GraphValues::promises_more(const Type& value, const Type& wanted) {
  return !value.is_error() && !wanted.is_error() && fits(value, wanted) == Fit::Maybe;
}

// The leaf `from` as a value of the type, which is checked when it runs.
Expr GraphValues::checked_type(Expr from, const Type& type, Span span) {
  if (!in_dataflow_) open_plain_block();
  Var var(builder_.fresh_name(in_dataflow_ ? "lv" : "gv"), type, in_dataflow_, span);
  builder_.append(Binding{MatchCast{var, std::move(from), type}, span, nullptr, false});
  return Expr(var);
}

// --- What a type asks of a value.

std::optional<ShapeType> GraphValues::shape_of(const ast::Expr& expr) {
  const std::string* name = ast::name_of(expr);
  Entry* entry = name ? look_up(*name) : nullptr;
  auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
  const ShapeType* shape = bound ? bound->var.type().as<ShapeType>() : nullptr;
  return shape ? std::optional(*shape) : std::nullopt;
}

std::optional<Type> GraphValues::type_of(const ast::Expr& expr) {
  if (const std::string* name = ast::name_of(expr)) {
    Entry* entry = look_up(*name);
    if (entry && std::get_if<Refused>(&entry->meaning)) throw ReadContext::Silent{};
    auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
    if (bound && bound->var.type().is_error()) throw ReadContext::Silent{};
    return bound ? std::optional(bound->var.type()) : std::nullopt;
  }
  auto* subscript = expr.as<ast::Subscript>();
  const auto whole = subscript ? type_of(*subscript->object) : std::nullopt;
  auto* index = whole && subscript->items.size() == 1 ? subscript->items[0]->as<ast::IntValue>() : nullptr;
  const TupleType* tuple = index ? whole->tuple() : nullptr;
  if (!tuple || index->value < 0 || index->value >= static_cast<std::int64_t>(tuple->fields.size()))
    return std::nullopt;
  return tuple->fields[static_cast<std::size_t>(index->value)];
}

}  // namespace relish

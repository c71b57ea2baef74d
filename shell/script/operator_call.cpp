// One-binding functions for operators at top level.
#include "shell/script/operator_call.h"

#include <algorithm>
#include <optional>

#include "ir/entry.h"
#include "ir/op_arguments.h"
#include "ir/op_suggestion.h"
#include "ir/printer.h"
#include "shell/script/convert.h"
#include "support/render.h"

namespace relish {
namespace {

// Kept functions; more means a program that makes new shapes for ever, which must not grow.
constexpr std::size_t most_functions = 4096;

std::string_view tensor_operator(ast::Operator op) {
  using ast::Operator;
  switch (op) {
    case Operator::Add:
      return "add";
    case Operator::Sub:
      return "subtract";
    case Operator::Mul:
      return "multiply";
    case Operator::Div:
      return "divide";
    case Operator::FloorDiv:
      return "floor_divide";
    case Operator::Mod:
      return "mod";
    case Operator::Pow:
      return "power";
    case Operator::MatMul:
      return "matmul";
    case Operator::Lt:
      return "less";
    case Operator::Le:
      return "less_equal";
    case Operator::Gt:
      return "greater";
    case Operator::Ge:
      return "greater_equal";
    case Operator::BitAnd:
      return "bitwise_and";
    case Operator::BitOr:
      return "bitwise_or";
    case Operator::BitXor:
      return "bitwise_xor";
    case Operator::ShiftLeft:
      return "left_shift";
    case Operator::ShiftRight:
      return "right_shift";
    default:
      return "";
  }
}

Type type_of_tensor(const Tensor& tensor) {
  std::vector<Scalar> dims;
  for (std::int64_t dim : tensor.shape()) dims.emplace_back(dim);
  return tensor_type(std::move(dims), tensor.dtype());
}

// The attribute of a script value; TypeError for values that are known at run time only.
Attribute attribute_of_value(const ScriptValue& value, std::string_view name, Span span) {
  if (value.is_none()) return {};
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  if (const auto* real = value.as<double>()) return *real;
  if (const std::string* text = value.string()) return *text;
  if (const auto* shape = value.as<ShapeValue>()) return relish::attribute_of(shape->dims);
  if (const ScriptList* list = value.sequence()) {
    AttributeList items;
    for (const ScriptValue& item : list->items) items.push_back(attribute_of_value(item, name, span));
    return items;
  }
  fail(ErrorClass::Type, span, "call.attribute",
       fmt::format("found {} for '{}'; expected a number, str or list of them", describe(value), name));
}

// The first tensor among the arguments, also inside tuples: numbers beside it take its dtype.
const Tensor* first_tensor(const std::vector<NamedValue>& arguments) {
  for (const NamedValue& argument : arguments) {
    if (argument.value.tensor()) return argument.value.tensor();
    if (const ScriptList* list = argument.value.sequence()) {
      for (const ScriptValue& item : list->items) {
        if (item.tensor()) return item.tensor();
      }
    }
  }
  return nullptr;
}

// Collects the parameters of the one-binding function while the arguments are turned into expressions.
struct ArgumentBuilder {
  const Op& op;
  const Tensor* reference;
  std::vector<Var> params;
  std::vector<Value> values;
  std::string key;

  Expr parameter(const Tensor& tensor) {
    Var var(fmt::format("x{}", params.size()), type_of_tensor(tensor));
    key += fmt::format("|{}", print(var.type()));
    params.push_back(var);
    values.emplace_back(tensor);
    return var;
  }

  Expr tensor(const ScriptValue& value, Span span) {
    if (value.tensor()) return parameter(*value.tensor());
    if (value.is_number() && reference) return parameter(number_beside(value, reference->dtype(), span));
    if (value.is_number()) {
      fail(ErrorClass::Type, span, "call.argument",
           fmt::format("{}: found {} and no tensor beside it; make one by tensor(value, dtype)", op.name,
                       describe(value)));
    }
    fail(ErrorClass::Type, span, "call.argument",
         fmt::format("{}: found {}; expected a tensor", op.name, describe(value)));
  }

  Expr shape(const ScriptValue& value, Span span) {
    std::vector<Scalar> dims;
    for (std::int64_t dim : shape_of(value, span, true)) dims.emplace_back(dim);
    key += "|shape";
    for (const Scalar& dim : dims) key += fmt::format(",{}", *dim.as_int());
    return shape_literal(std::move(dims));
  }

  Expr tensor_tuple(const ScriptValue& value, Span span) {
    const ScriptList* list = value.sequence();
    if (!list) {
      fail(ErrorClass::Type, span, "call.argument",
           fmt::format("{}: found {}; expected a tuple of tensors", op.name, describe(value)));
    }
    key += "|tuple(";
    std::vector<Expr> fields;
    for (const ScriptValue& item : list->items) fields.push_back(tensor(item, span));
    key += ")";
    return tuple(std::move(fields));
  }

  // A value of any type.
  std::variant<Expr, Attribute> any(const ScriptValue& value, std::string_view name, Span span) {
    if (value.tensor()) return parameter(*value.tensor());
    if (value.is_number()) return scalar(value, span);
    if (value.as<ShapeValue>()) return shape(value, span);
    if (const auto* object = value.as<std::shared_ptr<const ObjectValue>>()) {
      params.emplace_back(fmt::format("x{}", params.size()), type_of(Value(*object)));
      values.emplace_back(*object);
      key += fmt::format("|{}", print(params.back().type()));
      return Expr(params.back());
    }
    const ScriptList* list = value.sequence();
    const bool tensors = list && std::any_of(list->items.begin(), list->items.end(),
                                             [](const ScriptValue& item) { return item.tensor(); });
    if (!tensors) {
      Attribute attribute = attribute_of_value(value, name, span);
      key += "|" + print(attribute);
      return attribute;
    }
    key += "|tuple(";
    std::vector<Expr> fields;
    for (const ScriptValue& item : list->items)
      fields.push_back(item.is_number() ? scalar(item, span) : tensor(item, span));
    key += ")";
    return tuple(std::move(fields));
  }

  Expr scalar(const ScriptValue& value, Span span) {
    key += fmt::format("|{} {}", kind_name(value), text_of(value));
    if (const auto* flag = value.as<bool>()) return scalar_value(bool_literal(*flag));
    if (const auto* integer = value.as<std::int64_t>())
      return scalar_value(int_literal(DType::Int64, *integer));
    if (const auto* real = value.as<double>()) return scalar_value(float_literal(DType::Float64, *real));
    fail(ErrorClass::Type, span, "call.argument",
         fmt::format("{}: found {}; expected a number", op.name, describe(value)));
  }
};

// A list that stands for the rest of the arguments is spelt out: R.assert_op(c, [a, b]).
std::vector<NamedValue> spelt_out(const Op& op, const std::vector<NamedValue>& arguments) {
  std::vector<NamedValue> result;
  for (const NamedValue& argument : arguments) {
    const Param* param = written_parameter(op, argument.name, result.size());
    const ScriptList* list = argument.value.sequence();
    if (!param || param->kind != ParamKind::AnyRest || !list || list->tuple) {
      result.push_back(argument);
      continue;
    }
    for (const ScriptValue& item : list->items) result.push_back({"", item, argument.span});
  }
  return result;
}

}  // namespace

ScriptValue OperatorCalls::call(std::string_view op_name, const std::vector<NamedValue>& arguments,
                                Span span) {
  const Op* op = find_op(op_name);
  if (!op) {
    const std::optional<std::string> nearest = nearest_op(op_name);
    fail(ErrorClass::Type, span, "op.unknown",
         fmt::format("unknown operator 'R.{}'{}", printable(op_name),
                     nearest ? fmt::format("; did you mean 'R.{}'?", *nearest) : ""));
  }
  return call(*op, arguments, span);
}

ScriptValue OperatorCalls::call(const Op& op, const std::vector<NamedValue>& given, Span span) {
  const std::vector<NamedValue> arguments = spelt_out(op, given);
  ArgumentBuilder builder{op, first_tensor(arguments), {}, {}, std::string(op.name)};
  std::vector<WrittenArgument> written;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const NamedValue& argument = arguments[i];
    const Param* param = written_parameter(op, argument.name, i);
    ParamKind kind = param ? param->kind : ParamKind::Attribute;
    builder.key += fmt::format(";{}=", param ? param->name : argument.name);
    WrittenArgument result{argument.name, Attribute(), argument.span};
    switch (kind) {
      case ParamKind::OptionalTensor:
        if (argument.value.is_none()) break;
        [[fallthrough]];
      case ParamKind::Tensor:
        result.value = builder.tensor(argument.value, argument.span);
        break;
      case ParamKind::TensorTuple:
        result.value = builder.tensor_tuple(argument.value, argument.span);
        break;
      case ParamKind::Shape:
        result.value = builder.shape(argument.value, argument.span);
        break;
      case ParamKind::Scalar:
        result.value = builder.scalar(argument.value, argument.span);
        break;
      case ParamKind::Any:
      case ParamKind::AnyRest:
        result.value = builder.any(argument.value, param->name, argument.span);
        break;
      case ParamKind::Attribute: {
        Attribute attribute =
            attribute_of_value(argument.value, param ? param->name : argument.name, argument.span);
        builder.key += print(attribute);
        result.value = std::move(attribute);
        break;
      }
    }
    written.push_back(std::move(result));
  }
  try {
    ModulePtr module = function_for(op, std::move(written), builder.params, builder.key, span);
    Value result = session_.evaluator().call(module, "main", std::move(builder.values));
    // What only has effects gives nothing.
    const bool empty = result.is_tuple() && result.fields().empty();
    return from_runtime(empty ? Value() : std::move(result));
  } catch (Failure& failure) {
    failure.at(span);
    throw;
  }
}

ModulePtr OperatorCalls::function_for(const Op& op, std::vector<WrittenArgument> written,
                                      const std::vector<Var>& params, const std::string& key, Span span) {
  auto found = functions_.find(key);
  if (found != functions_.end()) return found->second;
  ArrangedArguments arranged = arrange_arguments(op, std::move(written), span);
  FunctionBuilder builder;
  for (const Var& param : params) builder.reserve_name(param.name());
  builder.begin_block(op.pure);
  // Nodes carry no place: the function serves calls from many lines, and a fault gets the line of its call.
  Var result =
      builder.bind(op_call(op, std::move(arranged.args), std::move(arranged.attributes)), "gv", true);
  builder.end_block();
  Function function;
  function.name = "main";
  function.params = params;
  function.result_type = result.type();
  function.blocks = builder.take_blocks();
  function.result = result;
  function.pure = op.pure;
  Module module;
  module.set(std::make_shared<const Function>(std::move(function)));
  auto shared = std::make_shared<const Module>(std::move(module));
  if (functions_.size() >= most_functions) functions_.clear();
  functions_.emplace(key, shared);
  return shared;
}

ScriptValue OperatorCalls::binary(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  if (op == ast::Operator::Eq || op == ast::Operator::Ne) {
    fail(ErrorClass::Type, span, "script.tensor_equality",
         fmt::format("'{}' is not defined on tensors; use R.equal or allclose", ast::text_of(op)));
  }
  std::string_view name = tensor_operator(op);
  auto takes_part = [](const ScriptValue& value) { return value.tensor() || value.is_number(); };
  if (name.empty() || !takes_part(a) || !takes_part(b)) {
    fail(ErrorClass::Type, span, "script.operator",
         fmt::format("'{}' is not defined for {} and {}", ast::text_of(op), describe(a), describe(b)));
  }
  return call(name, {{"", a, span}, {"", b, span}}, span);
}

ScriptValue OperatorCalls::prefix(ast::PrefixOperator op, const ScriptValue& a, Span span) {
  switch (op) {
    case ast::PrefixOperator::Minus:
      return call("negative", {{"", a, span}}, span);
    case ast::PrefixOperator::Invert:
      return call("bitwise_not", {{"", a, span}}, span);
    default:
      fail(ErrorClass::Type, span, "script.operator", "unary '+' is not defined on tensors");
  }
}

}  // namespace relish

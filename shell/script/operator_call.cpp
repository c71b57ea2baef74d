// One-binding functions for operators at top level.
#include "shell/script/operator_call.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/calls/entry.h"
#include "ir/operators/op_arguments.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "shell/script/convert.h"
#include "shell/script/numbers.h"
#include "shell/script/operator_types.h"
#include "stdlib/surface.h"
#include "support/render.h"

namespace relish {
namespace {

// Kept functions; more means a program that makes new shapes for ever, which must not grow.
constexpr std::size_t most_functions = 4096;
// After so many shapes of one operator the next ones share a function of symbolic sizes.
constexpr std::size_t exact_shapes = 2;

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
    case Operator::Eq:
      return "equal";
    case Operator::Ne:
      return "not_equal";
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

// The dtype of the tensor given for a parameter, or of the first one in a tuple of them.
std::optional<DType> dtype_given(const Op& op, const std::vector<NamedValue>& arguments, const Param& param) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (written_parameter(op, arguments[i].name, i) != &param) continue;
    const ScriptValue& value = arguments[i].value;
    if (value.tensor()) return value.tensor()->dtype();
    const ScriptList* list = value.sequence();
    for (std::size_t k = 0; list && k < list->items.size(); ++k) {
      if (list->items[k].tensor()) return list->items[k].tensor()->dtype();
    }
  }
  return std::nullopt;
}

// Collects the parameters of the one-binding function while the arguments are turned into expressions.
struct ArgumentBuilder {
  const Op& op;
  const std::vector<NamedValue>& arguments;
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

  Expr tensor(const ScriptValue& value, const Param& param, Span span) {
    if (value.tensor()) return parameter(*value.tensor());
    if (value.is_number() || value.sequence()) {
      const std::optional<DType> dtype =
          number_dtype(op, param, [&](const Param& other) { return dtype_given(op, arguments, other); });
      if (dtype && value.is_number()) return parameter(number_beside(value, *dtype, span));
      if (dtype) return parameter(list_beside(value, *dtype, span));
      if (value.is_number() && stands_alone(param)) return parameter(lone_number(value, param, span));
      fail(ErrorClass::Type, span, "call.argument",
           param.name == "key"
               ? fmt::format("{}: found {}, expected a key of random numbers; write key({})", op.name,
                             describe(value), value.as<std::int64_t>() ? text_of(value) : "0")
               : fmt::format("{}: found {} and no tensor beside it; make one by tensor(value, dtype)",
                             op.name, describe(value)));
    }
    fail(ErrorClass::Type, span, "call.argument",
         fmt::format("{}: found {}; expected a tensor", op.name, describe(value)));
  }

  // Whether the operator takes a number where no tensor can stand beside it: the filling of R.full.
  bool stands_alone(const Param& param) const {
    return param.type.find("or scalar") != std::string_view::npos &&
           std::none_of(op.params.begin(), op.params.end(), [&](const Param& other) {
             return &other != &param &&
                    (other.kind == ParamKind::Tensor || other.kind == ParamKind::OptionalTensor);
           });
  }

  // A number that no tensor stands beside.
  Tensor lone_number(const ScriptValue& value, const Param& param, Span span) const {
    std::optional<DType> wanted;
    for (const NamedValue& argument : arguments) {
      const Param* other =
          written_parameter(op, argument.name, static_cast<std::size_t>(&argument - arguments.data()));
      if (other && other->name == "dtype" && !argument.value.is_none())
        wanted = dtype_of_value(argument.value, argument.span);
    }
    const DType real = wanted && is_float(*wanted) ? *wanted : plain_real_dtype(param, wanted.has_value());
    return tensor_of(value, value.as<double>() ? std::optional(real) : std::nullopt, DType::Int64, real,
                     span);
  }

  Expr shape(const ScriptValue& value, Span span) {
    std::vector<Scalar> dims;
    for (std::int64_t dim : shape_of(value, span, true)) dims.emplace_back(dim);
    key += "|shape";
    for (const Scalar& dim : dims) key += fmt::format(",{}", *dim.as_int());
    return shape_literal(std::move(dims));
  }

  Expr tensor_tuple(const ScriptValue& value, const Param& param, Span span) {
    const ScriptList* list = value.sequence();
    if (!list) {
      fail(ErrorClass::Type, span, "call.argument",
           fmt::format("{}: found {}; expected a tuple of tensors", op.name, describe(value)));
    }
    key += "|tuple(";
    std::vector<Expr> fields;
    for (const ScriptValue& item : list->items) fields.push_back(tensor(item, param, span));
    key += ")";
    return tuple(std::move(fields));
  }

  // A value of any type.
  std::variant<Expr, Attribute> any(const ScriptValue& value, const Param& param, Span span) {
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
      Attribute attribute = attribute_of_value(value, param.name, span);
      key += "|" + print(attribute);
      return attribute;
    }
    key += "|tuple(";
    std::vector<Expr> fields;
    for (const ScriptValue& item : list->items)
      fields.push_back(item.is_number() ? scalar(item, span) : tensor(item, param, span));
    key += ")";
    return tuple(std::move(fields));
  }

  Expr scalar(const ScriptValue& value, Span span, DType dtype = DType::Float64) {
    key += fmt::format("|{} {}", kind_name(value), text_of(value));
    if (const auto* flag = value.as<bool>()) return scalar_value(bool_literal(*flag));
    if (const auto* integer = value.as<std::int64_t>())
      return scalar_value(int_literal(DType::Int64, *integer));
    if (const auto* real = value.as<double>())
      return scalar_value(float_literal(dtype, Tensor::scalar(dtype, *real).get_double(0)));
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

// What the operator is given, for each argument as its parameter takes it.
std::vector<WrittenArgument> written_arguments(ArgumentBuilder& builder) {
  const Op& op = builder.op;
  const std::vector<NamedValue>& arguments = builder.arguments;
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
        result.value = builder.tensor(argument.value, *param, argument.span);
        break;
      case ParamKind::TensorTuple:
        result.value = builder.tensor_tuple(argument.value, *param, argument.span);
        break;
      case ParamKind::Shape:
        result.value = builder.shape(argument.value, argument.span);
        break;
      case ParamKind::Scalar:
        result.value = builder.scalar(argument.value, argument.span, plain_real_dtype(*param, false));
        break;
      case ParamKind::Any:
      case ParamKind::AnyRest:
        result.value = builder.any(argument.value, *param, argument.span);
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
  return written;
}

// A function of one binding. Nodes carry no place: it serves calls from many lines, and a fault gets the line
// of its call.
ModulePtr function_of(const Op& op, const std::vector<Var>& params, std::vector<Expr> args,
                      Attributes attributes) {
  FunctionBuilder builder;
  for (const Var& param : params) builder.reserve_name(param.name());
  builder.begin_block(op.pure);
  Var result = builder.bind(op_call(op, std::move(args), std::move(attributes)), "gv", true);
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
  return std::make_shared<const Module>(std::move(module));
}

// The sizes of a tensor as variables, one for each number; 0 and 1 mean more than a size and stay.
Type with_open_sizes(const Type& type, std::map<std::int64_t, ScalarVar>& sizes) {
  const TensorType* tensor = type.tensor();
  if (!tensor || !tensor->shape) return type;
  std::vector<Scalar> dims;
  for (const Scalar& dim : *tensor->shape) {
    const std::int64_t size = *dim.as_int();
    if (size <= 1) {
      dims.push_back(dim);
      continue;
    }
    const auto [at, made] = sizes.try_emplace(size, fmt::format("n{}", sizes.size()), DType::Int64);
    dims.emplace_back(at->second);
  }
  return tensor_type(std::move(dims), *tensor->dtype);
}

// The key of a call without the sizes: which of them are equal is what remains.
std::string family_key(const std::string& key, const std::vector<Var>& params) {
  std::string family;
  std::size_t at = 0;
  std::map<std::int64_t, std::size_t> order;
  for (const Var& param : params) {
    const std::string exact = fmt::format("|{}", print(param.type()));
    const std::size_t found = key.find(exact, at);
    family += key.substr(at, found - at) + "|";
    at = found + exact.size();
    const TensorType* tensor = param.type().tensor();
    if (!tensor) {
      family += exact;
      continue;
    }
    family += name_of(*tensor->dtype);
    for (const Scalar& dim : *tensor->shape) {
      const std::int64_t size = *dim.as_int();
      family += size <= 1 ? fmt::format(",{}", size)
                          : fmt::format(",n{}", order.try_emplace(size, order.size()).first->second);
    }
  }
  return family + key.substr(at);
}

// The exponent of a power of integers, which is a product; R.power is of floats.
std::optional<std::uint64_t> whole_exponent(ast::Operator op, const ScriptValue& a, const ScriptValue& b) {
  const auto* exponent = b.as<std::int64_t>();
  const bool whole = op == ast::Operator::Pow && a.tensor() && is_int(a.tensor()->dtype());
  return whole && exponent && *exponent >= 0 ? std::optional(static_cast<std::uint64_t>(*exponent))
                                             : std::nullopt;
}

// The operator that `a op b` calls; TypeError where there is none.
std::string_view operator_between(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  // A list beside a tensor is one, as in NumPy.
  const auto takes_part = [](const ScriptValue& value) {
    return value.tensor() || value.is_number() || value.sequence();
  };
  const auto whole = [](const ScriptValue& value) {
    return value.tensor() ? !is_float(value.tensor()->dtype()) : !value.as<double>();
  };
  if (op == ast::Operator::Div && whole(a) && whole(b) && takes_part(a) && takes_part(b)) {
    fail(ErrorClass::Type, span, "script.whole_division",
         "'/' of integer tensors is not defined in statements; write x.astype(\"float32\") / y, or '//' for "
         "whole numbers");
  }
  std::string_view name = tensor_operator(op);
  if (name.empty() || !takes_part(a) || !takes_part(b)) {
    no_operator(op, a, b, span);
  }
  return name;
}

}  // namespace

ScriptValue OperatorCalls::call(std::string_view op_name, const std::vector<NamedValue>& arguments,
                                Span span) {
  const Op* op = find_op(op_name);
  if (!op) {
    fail(ErrorClass::Type, span, "op.unknown",
         fmt::format("unknown operator 'R.{}'{}", printable(op_name), operator_advice(op_name)));
  }
  return call(*op, arguments, span);
}

ScriptValue OperatorCalls::call(const Op& op, const std::vector<NamedValue>& given, Span span) {
  const std::vector<NamedValue> arguments = spelt_out(op, given);
  ArgumentBuilder builder{op, arguments, {}, {}, std::string(op.name)};
  std::vector<WrittenArgument> written = written_arguments(builder);
  try {
    Functions& functions =
        functions_for(op, std::move(written), builder.params, builder.values, builder.key, span);
    Value result = run(functions, std::move(builder.values));
    // What only has effects gives nothing.
    const bool empty = result.is_tuple() && result.fields().empty();
    return from_runtime(empty ? Value() : std::move(result));
  } catch (Failure& failure) {
    failure.at(span);
    throw;
  }
}

// The function of symbolic sizes counts only where it does what the exact one says: what it refuses, or gives
// in another shape, is the exact one's to decide.
Value OperatorCalls::run(Functions& functions, std::vector<Value> values) {
  Evaluator& evaluator = session_.evaluator();
  if (functions.open) {
    try {
      Value result = evaluator.call(functions.open, "main", values);
      if (same_type(type_of(result), functions.result)) return result;
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;
    }
    functions.open = nullptr;
  }
  return evaluator.call(functions.exact, "main", std::move(values));
}

OperatorCalls::Functions& OperatorCalls::functions_for(const Op& op, std::vector<WrittenArgument> written,
                                                       const std::vector<Var>& params,
                                                       const std::vector<Value>& values,
                                                       const std::string& key, Span span) {
  auto found = functions_.find(key);
  if (found != functions_.end()) return found->second;
  const ArrangedArguments arranged = arrange_arguments(op, std::move(written), span);
  Functions functions;
  functions.exact = function_of(op, params, arranged.args, arranged.attributes);
  functions.result = functions.exact->function("main")->result_type;
  if (functions_.size() >= most_functions) {
    functions_.clear();
    families_.clear();
  }
  if (op.pure && !params.empty() && fully_known(functions.result)) {
    Family& family = families_[family_key(key, params)];
    if (++family.shapes > exact_shapes && !family.open && !family.refused)
      open_family(family, op, arranged, params, values);
    functions.open = family.open;
  }
  return functions_.emplace(key, std::move(functions)).first->second;
}

void OperatorCalls::open_family(Family& family, const Op& op, const ArrangedArguments& arranged,
                                const std::vector<Var>& params, const std::vector<Value>& values) {
  VarMap opened;
  std::map<std::int64_t, ScalarVar> sizes;
  std::vector<Var> open_params;
  for (const Var& param : params) {
    open_params.emplace_back(param.name(), with_open_sizes(param.type(), sizes));
    opened.emplace(param.id(), Expr(open_params.back()));
  }
  family.refused = true;
  try {
    std::vector<Expr> args;
    for (const Expr& arg : arranged.args) args.push_back(arg.defined() ? substitute(arg, opened) : arg);
    ModulePtr open = function_of(op, open_params, args, arranged.attributes);
    if (!fully_known(open->function("main")->result_type)) return;
    session_.evaluator().prepare(open, "main", values);
    family.open = std::move(open);
    family.refused = false;
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Interrupted) throw;
  }
}

ScriptValue OperatorCalls::whole_power(const ScriptValue& x, std::uint64_t exponent, Span span) {
  const auto product = [&](const ScriptValue& a, const ScriptValue& b) {
    return call("multiply", {{"", a, span}, {"", b, span}}, span);
  };
  if (exponent == 0) return call("ones_like", {{"", x, span}}, span);
  std::optional<ScriptValue> result;
  for (ScriptValue square = x;; square = product(square, square)) {
    if (exponent % 2 == 1) result = result ? product(*result, square) : square;
    exponent /= 2;
    if (exponent == 0) return *result;
  }
}

ScriptValue OperatorCalls::binary(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  if (const auto exponent = whole_exponent(op, a, b)) return whole_power(a, *exponent, span);
  return call(operator_between(op, a, b, span), {{"", a, span}, {"", b, span}}, span);
}

Type type_of_operator_call(const Op& op, const std::vector<NamedValue>& given, Span span) {
  const std::vector<NamedValue> arguments = spelt_out(op, given);
  ArgumentBuilder builder{op, arguments, {}, {}, {}};
  const ArrangedArguments arranged = arrange_arguments(op, written_arguments(builder), span);
  return function_of(op, builder.params, arranged.args, arranged.attributes)->function("main")->result_type;
}

Type type_of_operator(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  if (whole_exponent(op, a, b)) return type_of_operator(ast::Operator::Mul, a, a, span);
  const Op& called = *find_op(operator_between(op, a, b, span));
  return type_of_operator_call(called, {{"", a, span}, {"", b, span}}, span);
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

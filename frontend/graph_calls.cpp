// Calls with rules of their own: operators looked up in the table, call_tir in its spellings, constants,
// shapes, tuples.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "frontend/attribute_reader.h"
#include "frontend/graph_builder.h"
#include "ir/call_layout.h"
#include "ir/printer.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

// Whether the expression is known when the text is read, without any name.
bool is_literal(const ReadContext& context, const ast::Expr& expr) {
  auto all = [&](const std::vector<ast::ExprPtr>& items) {
    return std::all_of(items.begin(), items.end(),
                       [&](const ast::ExprPtr& item) { return is_literal(context, *item); });
  };
  if (expr.as<ast::NoneValue>() || expr.as<ast::BoolValue>() || expr.as<ast::IntValue>() ||
      expr.as<ast::FloatValue>() || expr.as<ast::StringValue>() || expr.as<ast::NumberListValue>() ||
      expr.as<ast::DictValue>()) {
    return true;
  }
  if (auto* tuple = expr.as<ast::TupleValue>()) return all(tuple->items);
  if (auto* list = expr.as<ast::ListValue>()) return all(list->items);
  auto* call = expr.as<ast::Call>();
  std::string name = call ? context.namespaces.canonical(*call->callee) : std::string();
  return (name == "R.dtype" || name == "R.str" || name == "float") && call->arguments.size() == 1 &&
         call->arguments[0].value->as<ast::StringValue>();
}

struct Refusal {
  std::string_view name;
  std::string_view reason;
};
constexpr std::array<Refusal, 9> refusals = {{
    {"R.match_cast", "found R.match_cast inside an expression; expected y = R.match_cast(x, type)"},
    {"R.func_attr", "found R.func_attr inside an expression; expected it as a statement"},
    {"R.output", "found R.output inside an expression; expected it as a statement"},
    {"R.dataflow", "found R.dataflow inside an expression; expected with R.dataflow():"},
    {"R.emit_te", "R.emit_te needs Python, which Relish does not run; expected a prim_func and R.call_tir"},
    {"R.call_tir_with_grad", "R.call_tir_with_grad names a Python function; expected R.call_tir"},
    {"R.call_tir_inplace", "R.call_tir_inplace is not supported; expected R.call_tir"},
    {"R.call_py_func", "R.call_py_func needs Python, which Relish does not run"},
    {"R.null_value", "found R.null_value() as a value; it stands for an absent argument only"},
}};
constexpr std::array<std::string_view, 6> native_calls = {"R.call_dps_packed",  "R.call_packed",
                                                          "R.call_pure_packed", "R.call_inplace_packed",
                                                          "R.ExternFunc",       "R.call_builtin_with_ctx"};

}  // namespace

Expr GraphBuilder::operator_call(const std::string& name, const ast::Expr& expr, const ast::Call& call,
                                 const ast::Expr* receiver) {
  std::string short_name = name.substr(2);
  const Op* op = find_op(short_name);
  if (!op) {
    std::vector<std::string> candidates = op_names();
    std::string suggestion;
    // `R.relu` is `R.nn.relu`: the same last word counts more than a few letters.
    for (const std::string& candidate : candidates) {
      std::size_t dot = candidate.rfind('.');
      if (dot != std::string::npos && candidate.substr(dot + 1) == short_name) {
        suggestion = fmt::format("; did you mean 'R.{}'?", candidate);
        break;
      }
    }
    if (suggestion.empty()) {
      for (std::string& candidate : candidates) candidate = "R." + candidate;
      suggestion = did_you_mean(name, candidates);
    }
    type_error(call.callee->span, "op.unknown",
               fmt::format("found the operator {}, which is unknown{}", printable(name), suggestion));
  }
  std::vector<WrittenArgument> written;
  std::vector<std::pair<std::size_t, const ast::Expr*>>
      numbers;  // for tensor parameters: they wait for a dtype
  auto add = [&](const std::string& argument_name, const ast::Expr& value) {
    const Param* param = nullptr;
    if (argument_name.empty()) {
      if (written.size() < op->params.size()) param = &op->params[written.size()];
    } else {
      for (const Param& candidate : op->params) {
        if (candidate.name == argument_name) param = &candidate;
      }
    }
    bool null_value = false;
    if (auto* inner = value.as<ast::Call>())
      null_value = context_.namespaces.canonical(*inner->callee) == "R.null_value";
    WrittenArgument argument{argument_name, Attribute(), value.span};
    bool tensor = param && (param->kind == ParamKind::Tensor || param->kind == ParamKind::OptionalTensor);
    if (null_value) {
      // an absent argument
    } else if (tensor && (value.as<ast::IntValue>() || value.as<ast::FloatValue>())) {
      numbers.emplace_back(written.size(), &value);
      argument.value = read_attribute(context_, value);
    } else if (is_literal(context_, value)) {
      argument.value = read_attribute(context_, value);
    } else {
      argument.value = leaf(value);
    }
    written.push_back(std::move(argument));
  };
  if (receiver) add("", *receiver);
  for (const ast::Argument& argument : call.arguments) {
    if (argument.stars)
      type_error(argument.value->span, "call.star",
                 "found a starred argument; expected each one written out");
    add(argument.name, *argument.value);
  }
  if (!numbers.empty()) {
    std::optional<DType> dtype;
    for (const WrittenArgument& argument : written) {
      auto* value = std::get_if<Expr>(&argument.value);
      const TensorType* tensor = value && !dtype ? value->type().tensor() : nullptr;
      if (tensor) dtype = tensor->dtype;
    }
    if (dtype) {
      for (auto& [index, literal] : numbers) written[index].value = literal_beside(*literal, *dtype);
    }
  }
  ArrangedArguments arranged = arrange_arguments(*op, std::move(written), expr.span);
  return make_op_call(*op, std::move(arranged.args), std::move(arranged.attributes), expr.span);
}

std::optional<Expr> GraphBuilder::special_call(const std::string& name, const ast::Expr& expr,
                                               const ast::Call& call) {
  auto expect = [&](std::size_t least, std::size_t most) {
    if (call.arguments.size() < least || call.arguments.size() > most) {
      type_error(expr.span, "call.arguments",
                 fmt::format("found {} arguments of {}", call.arguments.size(), printable(name)));
    }
  };
  if (name == "R.call_tir") return call_tir(expr, call);
  if (name == "R.const") return constant_of(expr, call);
  if (name == "relish.constant") return named_constant(expr, call);
  if (name == "R.shape" || name == "R.ShapeExpr") {
    expect(1, 1);
    const ast::Expr& dims = *call.arguments[0].value;
    std::vector<Scalar> read;
    for (Scalar& dim : scalars_.read_list(dims)) {
      if (!is_int(dim.dtype())) {
        type_error(dims.span, "shape.dtype",
                   fmt::format("found a dimension of dtype {}; expected int64", name_of(dim.dtype())));
      }
      read.push_back(dim);
    }
    return shape_literal(std::move(read), expr.span);
  }
  if (name == "R.prim_value") {
    expect(1, 1);
    return scalar_value(scalars_.read(*call.arguments[0].value), expr.span);
  }
  if (name == "R.tuple" || name == "R.Tuple") {
    std::vector<Expr> fields = call_arguments(call);
    return tuple(std::move(fields), expr.span);
  }
  if (name == "R.TupleGetItem") {
    expect(2, 2);
    auto* index = call.arguments[1].value->as<ast::IntValue>();
    if (!index || index->value < 0 || index->value > INT32_MAX) {
      type_error(call.arguments[1].value->span, "subscript.index", "found an index that is no plain integer");
    }
    return tuple_get(leaf(*call.arguments[0].value), static_cast<int>(index->value), expr.span);
  }
  if (name == "R.str" || name == "R.dtype") {
    expect(1, 1);
    auto* text = call.arguments[0].value->as<ast::StringValue>();
    if (!text) type_error(expr.span, "call.arguments", fmt::format("{} takes a string", name));
    if (name == "R.str") return string_literal(text->value, expr.span);
    return dtype_literal(read_dtype(text->value, call.arguments[0].value->span), expr.span);
  }
  for (const Refusal& refusal : refusals) {
    if (refusal.name == name) type_error(expr.span, "unsupported", std::string(refusal.reason));
  }
  if (std::find(native_calls.begin(), native_calls.end(), name) != native_calls.end()) {
    fail(ErrorClass::Policy, expr.span, "native.call",
         fmt::format("{} calls a native function, which was not opted in", printable(name)));
  }
  return std::nullopt;
}

// --- call_tir.

// The types of the results: a type or a list of them, or, as in 2022, a shape or a list of shapes and a
// dtype.
void GraphBuilder::read_out_types(const ast::Call& call, const ast::Expr* third, const ast::Expr* dtype,
                                  std::vector<Type>& types, bool& tuple_result) {
  if (!third) {
    type_error(call.callee->span, "call_tir.result",
               "R.call_tir is given no type of its result; expected out_ty=R.Tensor(shape, dtype)");
  }
  auto items_of = [](const ast::Expr& expr) -> const std::vector<ast::ExprPtr>* {
    if (auto* list = expr.as<ast::ListValue>()) return &list->items;
    if (auto* tuple = expr.as<ast::TupleValue>()) return &tuple->items;
    return nullptr;
  };
  const std::vector<ast::ExprPtr>* items = items_of(*third);
  if (types_.is_type(*third)) {
    Type type = types_.read(*third);
    if (const TupleType* fields = type.tuple()) {
      types = fields->fields;
      tuple_result = true;
    } else {
      types.push_back(type);
    }
  } else if (items && !items->empty() && types_.is_type(*items->front())) {
    for (const ast::ExprPtr& item : *items) types.push_back(types_.read(*item));
    tuple_result = types.size() != 1;  // a list of one is that one, as in TVM
  } else {
    // Shapes. Several when the items are shapes themselves.
    std::vector<const ast::Expr*> shapes{third};
    if (items && !items->empty() && items_of(*items->front())) {
      shapes.clear();
      for (const ast::ExprPtr& item : *items) shapes.push_back(item.get());
      tuple_result = shapes.size() != 1;
    }
    if (!dtype) {
      type_error(third->span, "call_tir.dtype",
                 "found a shape without dtype=; expected out_ty=R.Tensor(shape, dtype)");
    }
    const std::vector<ast::ExprPtr>* dtypes = items_of(*dtype);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const ast::Expr& one = dtypes && i < dtypes->size() ? *(*dtypes)[i] : *dtype;
      auto* text = one.as<ast::StringValue>();
      if (!text) type_error(one.span, "call_tir.dtype", "found a dtype that is no string");
      types.push_back(tensor_type(types_.read_dims(*shapes[i]), read_dtype(text->value, one.span)));
    }
    return;
  }
  if (dtype) type_error(dtype->span, "call_tir.dtype", "found dtype= beside a type; expected one of them");
  for (const Type& type : types) {
    const TensorType* tensor = type.tensor();
    if (!tensor || !tensor->shape || !tensor->dtype) {
      type_error(
          third->span, "call_tir.result",
          fmt::format("found the result type {}; expected R.Tensor with shape and dtype", print(type)));
    }
  }
}

Expr GraphBuilder::call_tir(const ast::Expr& expr, const ast::Call& call) {
  std::vector<const ast::Expr*> positional;
  const ast::Expr* third = nullptr;
  const ast::Expr* dtype = nullptr;
  const ast::Expr* scalar_args = nullptr;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name.empty() && !argument.stars) {
      positional.push_back(argument.value.get());
    } else if (argument.name == "out_ty" || argument.name == "out_sinfo" || argument.name == "shape" ||
               argument.name == "output_shape") {
      third = argument.value.get();
    } else if (argument.name == "dtype") {
      dtype = argument.value.get();
    } else if (argument.name == "tir_vars") {
      scalar_args = argument.value.get();
    } else if (argument.name == "args") {
      positional.push_back(argument.value.get());
    } else {
      type_error(argument.stars ? argument.value->span : argument.name_span, "call_tir.argument",
                 fmt::format("R.call_tir has no argument '{}'{}", printable(argument.name),
                             did_you_mean(argument.name, std::vector<std::string>{"out_ty", "out_sinfo",
                                                                                  "dtype", "tir_vars"})));
    }
  }
  if (!third && positional.size() > 2) third = positional[2];
  if (positional.size() < 2 || positional.size() > 3) {
    type_error(expr.span, "call_tir.arguments",
               fmt::format("found {} positional arguments of R.call_tir; expected a prim_func, its arguments "
                           "and the type of "
                           "the result",
                           positional.size()));
  }
  const ast::Expr& callee = *positional[0];
  if (callee.as<ast::StringValue>()) {
    fail(ErrorClass::Policy, callee.span, "native.call",
         fmt::format("R.call_tir of {} calls a native function, which was not opted in",
                     ast::describe(callee)));
  }
  std::optional<std::string> global = module_member(callee);
  if (!global && ast::name_of(callee)) global = *ast::name_of(callee);
  std::optional<GlobalMeaning> meaning = global ? globals_.find_global(*global, callee.span) : std::nullopt;
  if (!meaning) {
    if (global && !look_up(*global)) unknown_name(*global, callee.span);
    type_error(callee.span, "call_tir.callee",
               fmt::format("found {} in R.call_tir; expected a prim_func", ast::describe(callee)));
  }
  if (!meaning->is_prim_func) {
    type_error(
        callee.span, "call_tir.callee",
        fmt::format("found the Relax function '{}' in R.call_tir; expected a prim_func", printable(*global)));
  }

  std::vector<Expr> args;
  const ast::Expr& given = *positional[1];
  if (auto* tuple = given.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) args.push_back(leaf(*item));
  } else if (auto* list = given.as<ast::ListValue>()) {
    for (const ast::ExprPtr& item : list->items) args.push_back(leaf(*item));
  } else {
    Expr single = leaf(given);
    if (const TupleType* fields = single.type().tuple()) {
      // A tuple of values is its fields, each taken out.
      auto* written = single.as<TupleExpr>();
      for (std::size_t i = 0; i < fields->fields.size(); ++i) {
        if (!written && !in_dataflow_) open_plain_block();
        args.push_back(written ? written->fields[i]
                               : builder_.emit(tuple_get(single, static_cast<int>(i), given.span)));
      }
    } else {
      args.push_back(single);
    }
  }
  if (scalar_args) {
    for (const Scalar& scalar : types_.read_dims(*scalar_args))
      args.push_back(scalar_value(scalar, scalar_args->span));
  }
  std::vector<Type> types;
  bool tuple_result = false;
  read_out_types(call, third, dtype, types, tuple_result);
  Expr result = relish::call_tir(meaning->reference, args, types, tuple_result, expr.span);
  bool silent = std::any_of(args.begin(), args.end(), [](const Expr& arg) { return arg.type().is_error(); });
  if (meaning->prim_func && !silent) {
    context_.attempt_typed([&] { check_call_tir(*meaning->prim_func, *result.as<CallTir>(), expr.span); });
  }
  return result;
}

// What is known of arguments and results must not contradict the buffers of the prim_func.
void GraphBuilder::check_call_tir(const PrimFunc& function, const CallTir& call, Span span) {
  std::vector<ParamSource> layout = call_layout(function, call, span);
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const Buffer* buffer = function.params[i].buffer();
    bool result = layout[i].kind == ParamSource::Result;
    const Type& type = result ? call.out_types[layout[i].index] : call.args[layout[i].index].type();
    Span at = result || !call.args[layout[i].index].span().known() ? span : call.args[layout[i].index].span();
    if (!buffer) {
      DType wanted = function.params[i].scalar()->dtype();
      const ScalarType* scalar = type.as<ScalarType>();
      if (scalar && scalar->dtype != wanted && !(is_int(scalar->dtype) && is_int(wanted))) {
        fail(ErrorClass::Type, at, "call_tir.argument",
             fmt::format("a scalar of {} is given for '{}' of {}; expected {}", name_of(scalar->dtype),
                         function.params[i].name(), function.name, name_of(wanted)));
      }
      continue;
    }
    const TensorType* tensor = type.tensor();
    Type wanted = tensor_type(buffer->shape(), buffer->dtype());
    bool clash = !tensor && !type.as<AnyType>();
    if (tensor) {
      clash = (tensor->dtype && *tensor->dtype != buffer->dtype()) ||
              (tensor->rank >= 0 && tensor->rank != buffer->rank());
      if (!clash && tensor->shape) {
        for (std::size_t d = 0; d < tensor->shape->size(); ++d) {
          auto found = (*tensor->shape)[d].as_int(), expected = buffer->shape()[d].as_int();
          clash |= found && expected && *found != *expected;
        }
      }
    }
    if (clash) {
      fail(ErrorClass::Type, at, result ? "call_tir.result" : "call_tir.argument",
           fmt::format("{} of type {} is given for '{}' of {}; expected {}",
                       result ? "a result" : "an argument", print(type), buffer->name(), function.name,
                       print(wanted)),
           {{buffer->span(), fmt::format("'{}' is declared here", buffer->name())}});
    }
  }
}

// --- Constants.

namespace {

// Numbers of a nested list in row-major order, with the shape that they have in common.
class ConstantReader {
 public:
  explicit ConstantReader(const ReadContext& context) : context_(context) {}

  void read(const ast::Expr& expr, std::size_t axis) {
    if (auto* list = expr.as<ast::ListValue>()) return read_items(expr, list->items, axis);
    if (auto* tuple = expr.as<ast::TupleValue>()) return read_items(expr, tuple->items, axis);
    if (auto* numbers = expr.as<ast::NumberListValue>()) {
      open(expr, axis, static_cast<std::int64_t>(numbers->size()));
      for (std::int64_t value : numbers->integers) add_integer(expr, axis + 1, value);
      for (double value : numbers->reals) add_real(expr, axis + 1, value);
      return;
    }
    if (auto* value = expr.as<ast::IntValue>()) return add_integer(expr, axis, value->value);
    if (auto* value = expr.as<ast::FloatValue>()) return add_real(expr, axis, value->value);
    if (auto* value = expr.as<ast::BoolValue>()) {
      any_bool_ = true;
      return add_integer(expr, axis, value->value, true);
    }
    if (auto special = special_float(expr)) return add_real(expr, axis, *special);
    fail(ErrorClass::Type, expr.span, "const.value",
         fmt::format("found {} in R.const; expected numbers in nested lists", ast::describe(expr)));
  }

  DType default_dtype() const {
    return any_real_ ? DType::Float32 : any_integer_ || !any_bool_ ? DType::Int32 : DType::Bool;
  }
  // The tensor of that dtype; TypeError for a number that is no value of it.
  Tensor tensor(DType dtype, Span at) const {
    Tensor result = Tensor::empty(dtype, shape_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      auto index = static_cast<std::int64_t>(i);
      if (is_float(dtype)) {
        result.set_double(index, real_at(i));
        continue;
      }
      double real = real_at(i);
      bool whole =
          !values_[i].is_real || (std::isfinite(real) && std::trunc(real) == real && std::abs(real) < 9.2e18);
      std::int64_t value = values_[i].is_real && whole ? static_cast<std::int64_t>(real) : values_[i].integer;
      if (whole) {
        result.set_int(index, value);
        whole = result.get_int(index) == value && !(is_unsigned_int(dtype) && value < 0) &&
                !(is_bool(dtype) && value != 0 && value != 1);
      }
      if (!whole) {
        fail(ErrorClass::Type, at, "const.value",
             fmt::format("found {} in a constant of {}, which has no such value",
                         values_[i].is_real ? fmt::format("{}", real) : fmt::format("{}", value),
                         name_of(dtype)));
      }
    }
    return result;
  }

 private:
  struct Number {
    bool is_real;
    std::int64_t integer;
    double real;
  };

  double real_at(std::size_t i) const {
    return values_[i].is_real ? values_[i].real : static_cast<double>(values_[i].integer);
  }

  // float("inf"), T.float32("nan") and their negatives.
  std::optional<double> special_float(const ast::Expr& expr) const {
    if (auto* negated = expr.as<ast::Prefix>(); negated && negated->op == ast::PrefixOperator::Minus) {
      auto inner = special_float(*negated->operand);
      return inner ? std::optional(-*inner) : std::nullopt;
    }
    auto* call = expr.as<ast::Call>();
    if (!call || call->arguments.size() != 1) return std::nullopt;
    std::string name = context_.namespaces.canonical(*call->callee);
    if (name != "float" && name != "T.float16" && name != "T.float32" && name != "T.float64")
      return std::nullopt;
    const ast::Expr& argument = *call->arguments[0].value;
    if (auto* value = argument.as<ast::FloatValue>()) return value->value;
    if (auto* value = argument.as<ast::IntValue>()) return static_cast<double>(value->value);
    auto* text = argument.as<ast::StringValue>();
    if (!text) return std::nullopt;
    if (text->value == "inf") return std::numeric_limits<double>::infinity();
    if (text->value == "-inf") return -std::numeric_limits<double>::infinity();
    if (text->value == "nan") return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
  }

  void read_items(const ast::Expr& expr, const std::vector<ast::ExprPtr>& items, std::size_t axis) {
    open(expr, axis, static_cast<std::int64_t>(items.size()));
    for (const ast::ExprPtr& item : items) read(*item, axis + 1);
  }

  void open(const ast::Expr& expr, std::size_t axis, std::int64_t length) {
    if (axis == shape_.size() && !closed_) {
      shape_.push_back(length);
    } else if (axis >= shape_.size() || shape_[axis] != length) {
      ragged(expr);
    }
  }
  void add(const ast::Expr& expr, std::size_t axis, Number number) {
    if (axis != shape_.size()) ragged(expr);
    closed_ = true;
    values_.push_back(number);
  }
  void add_integer(const ast::Expr& expr, std::size_t axis, std::int64_t value, bool truth = false) {
    any_integer_ |= !truth;
    add(expr, axis, {false, value, 0});
  }
  void add_real(const ast::Expr& expr, std::size_t axis, double value) {
    any_real_ = true;
    add(expr, axis, {true, 0, value});
  }
  [[noreturn]] static void ragged(const ast::Expr& expr) {
    fail(ErrorClass::Type, expr.span, "const.shape",
         "found lists of unequal length in R.const; expected a regular nesting");
  }

  const ReadContext& context_;
  Shape shape_;
  std::vector<Number> values_;
  bool closed_ = false;  // a number was seen: the rank is fixed
  bool any_real_ = false, any_integer_ = false, any_bool_ = false;
};

}  // namespace

Expr GraphBuilder::constant_of(const ast::Expr& expr, const ast::Call& call) {
  const ast::Expr* written = nullptr;
  const ast::Expr* dtype = nullptr;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name == "dtype" || (argument.name.empty() && written))
      dtype = argument.value.get();
    else if (argument.name.empty() || argument.name == "value")
      written = argument.value.get();
    else
      type_error(argument.name_span, "const.argument",
                 fmt::format("R.const has no argument '{}'", printable(argument.name)));
  }
  if (!written || call.arguments.size() > 2)
    type_error(expr.span, "const.arguments", "R.const takes a value and a dtype");
  ConstantReader reader(context_);
  reader.read(*written, 0);
  DType element = reader.default_dtype();
  if (dtype && !dtype->as<ast::NoneValue>()) {
    auto* text = dtype->as<ast::StringValue>();
    if (!text) type_error(dtype->span, "const.dtype", "found a dtype that is no string");
    element = read_dtype(text->value, dtype->span);
  }
  return constant(reader.tensor(element, written->span), expr.span);
}

Expr GraphBuilder::named_constant(const ast::Expr& expr, const ast::Call& call) {
  auto* name = call.arguments.size() == 1 ? call.arguments[0].value->as<ast::StringValue>() : nullptr;
  if (!name) type_error(expr.span, "constants.name", "relish.constant takes the name of an entry");
  const Tensor* tensor = globals_.find_constant(name->value);
  if (!tensor) {
    type_error(expr.span, "constants.unknown",
               fmt::format("found no entry '{}' in the section of constants at the end of the text",
                           printable(name->value)));
  }
  return constant(*tensor, expr.span);
}

}  // namespace relish

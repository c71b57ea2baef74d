// Operator calls as data and as modules.
#include "tests/ops/operator_case.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>

#include "frontend/text/line_parser.h"
#include "interp/interpreter.h"
#include "ir/calls/entry.h"
#include "ir/operators/op_arguments.h"
#include "jit/jit.h"
#include "shell/script/convert.h"
#include "shell/script/script.h"
#include "shell/session.h"
#include "support/failure.h"

namespace relish::testing {
namespace {

Session& session() {
  static Session value = [] {
    start_language();
    Settings settings;
    settings.tier = "interp";
    return Session(settings, std::make_unique<StringOutput>());
  }();
  return value;
}

Script& script() {
  static Script value(session());
  return value;
}

ScriptValue evaluate(std::string_view text) {
  return script().evaluate(Sources::instance().add("<sample>", std::string(text)));
}

struct WrittenText {
  std::string name, text;
};

// The arguments of a call as texts.
std::vector<WrittenText> split_arguments(std::string_view arguments) {
  const std::string text = "f(" + std::string(arguments) + ")";
  const std::uint32_t file = Sources::instance().add("<sample>", text);
  Diagnostics diagnostics;
  LineParser parser(file, Sources::instance().find(file)->text(), diagnostics);
  const ast::ExprPtr expression = parser.expression(0, text.size());
  throw_if_errors(diagnostics);
  const auto* call = expression ? expression->as<ast::Call>() : nullptr;
  RELISH_CHECK(call, "a sample is no list of arguments: " + text);
  std::vector<WrittenText> result;
  for (const ast::Argument& argument : call->arguments) {
    const Span span = argument.value->span;
    result.push_back({argument.name, text.substr(span.begin, span.end - span.begin)});
  }
  return result;
}

Attribute attribute_of_script(const ScriptValue& value) {
  if (value.is_none()) return {};
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  if (const auto* real = value.as<double>()) return *real;
  if (const std::string* text = value.string()) return *text;
  if (const auto* shape = value.as<ShapeValue>()) return attribute_of(shape->dims);
  const ScriptList* list = value.sequence();
  RELISH_CHECK(list, "a sample has an attribute that is " + describe(value));
  AttributeList items;
  for (const ScriptValue& item : list->items) items.push_back(attribute_of_script(item));
  return items;
}

// Numbers and nested lists are float32 and int64 unless they say otherwise.
Tensor tensor_of_script(const ScriptValue& value) {
  if (const Tensor* tensor = value.tensor()) return *tensor;
  return tensor_of(value, std::nullopt, DType::Int64, DType::Float32, {});
}

ScalarValue scalar_of_script(const ScriptValue& value) {
  if (const auto* flag = value.as<bool>()) return ScalarValue::of_bool(*flag);
  if (const auto integer = integer_of(value)) return ScalarValue::of_int(*integer);
  return ScalarValue::of_real(*real_of(value));
}

// A value of any type; a list is a tensor where no shape is meant, and an empty one a tuple.
decltype(CaseArgument::value) any_of_script(const ScriptValue& value, const Param& param) {
  if (const auto* object = value.as<std::shared_ptr<const ObjectValue>>()) return *object;
  if (const auto* shape = value.as<ShapeValue>()) return shape->dims;
  if (value.is_number()) return scalar_of_script(value);
  const ScriptList* list = value.sequence();
  const bool tensor = value.tensor() || (list && !list->items.empty() && param.type != "shape" &&
                                         !param.type.starts_with("tuple"));
  if (tensor) return tensor_of_script(value);
  return attribute_of_script(value);
}

decltype(CaseArgument::value) argument_of_script(const ScriptValue& value, const Param* param) {
  const bool number = value.is_number();
  switch (param ? param->kind : ParamKind::Attribute) {
    case ParamKind::Any:
    case ParamKind::AnyRest:
      return any_of_script(value, *param);
    case ParamKind::Tensor:
    case ParamKind::OptionalTensor:
    case ParamKind::Scalar:
      if (value.is_none()) return Attribute();
      if (const auto* shape = value.as<ShapeValue>()) return shape->dims;
      return number ? decltype(CaseArgument::value)(scalar_of_script(value)) : tensor_of_script(value);
    case ParamKind::TensorTuple: {
      std::vector<Tensor> fields;
      const ScriptList* list = value.sequence();
      RELISH_CHECK(list, "a sample gives no tuple of tensors");
      for (const ScriptValue& item : list->items) fields.push_back(tensor_of_script(item));
      return fields;
    }
    case ParamKind::Shape:
      return shape_of(value, {}, true);
    case ParamKind::Attribute:
      return attribute_of_script(value);
  }
  return Attribute();
}

Tensor converted(const Tensor& tensor, DType dtype) {
  Tensor result = Tensor::empty(dtype, tensor.shape());
  for (std::int64_t i = 0; i < tensor.size(); ++i) result.set_double(i, tensor.get_double(i));
  return result;
}

Attribute attribute_of_json(const nlohmann::json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  AttributeList items;
  for (const nlohmann::json& item : json) items.push_back(attribute_of_json(item));
  return items;
}

// true, 3, or 2.5: of dtype bool, int64, float64, where it names no other.
ScalarValue scalar_of_json(const nlohmann::json& argument) {
  const nlohmann::json& json = argument.at("scalar");
  if (argument.contains("dtype")) {
    const auto dtype = dtype_from_name(argument["dtype"].get<std::string>());
    RELISH_CHECK(dtype.has_value() && is_float(*dtype));
    return ScalarValue::of_real(json.get<double>(), *dtype);
  }
  if (json.is_boolean()) return ScalarValue::of_bool(json.get<bool>());
  if (json.is_number_integer()) return ScalarValue::of_int(json.get<std::int64_t>());
  return ScalarValue::of_real(json.get<double>());
}

// Turns the arguments of a case into the function's parameters and the call's operands.
class CallBuilder {
 public:
  CallBuilder(const Op& op, const std::set<std::int64_t>& symbolic) : op_(op) {
    for (std::int64_t extent : symbolic)
      symbols_.emplace(extent, ScalarVar(fmt::format("n{}", extent), DType::Int64));
  }

  WrittenArgument write(const CaseArgument& argument) {
    WrittenArgument written{argument.name, Attribute(), {}};
    if (const auto* tensor = std::get_if<Tensor>(&argument.value)) {
      written.value = parameter(*tensor);
    } else if (const auto* fields = std::get_if<std::vector<Tensor>>(&argument.value)) {
      std::vector<Expr> exprs;
      for (const Tensor& field : *fields) exprs.push_back(parameter(field));
      written.value = tuple(std::move(exprs));
    } else if (const auto* shape = std::get_if<Shape>(&argument.value)) {
      written.value = shape_literal(dims_of(*shape));
    } else if (const auto* scalar = std::get_if<ScalarValue>(&argument.value)) {
      written.value = scalar_value(is_float(scalar->dtype) ? float_literal(scalar->dtype, scalar->real)
                                                           : int_literal(scalar->dtype, scalar->integer));
    } else if (const auto* object = std::get_if<std::shared_ptr<const ObjectValue>>(&argument.value)) {
      params.emplace_back(fmt::format("x{}", params.size()), type_of(Value(*object)));
      values.emplace_back(*object);
      written.value = Expr(params.back());
    } else {
      written.value = std::get<Attribute>(argument.value);
    }
    return written;
  }

  std::vector<Var> params;
  std::vector<Value> values;
  // Which parameter is given another extent than its value has.
  std::size_t changed_param = SIZE_MAX, changed_dimension = 0;
  std::int64_t changed_extent = 0;

 private:
  std::vector<Scalar> dims_of(const Shape& shape) const {
    std::vector<Scalar> dims;
    for (std::int64_t dim : shape) {
      const auto symbol = symbols_.find(dim);
      dims.push_back(symbol == symbols_.end() ? Scalar(dim) : Scalar(symbol->second));
    }
    return dims;
  }

  Expr parameter(const Tensor& tensor) {
    Shape shape = tensor.shape();
    if (params.size() == changed_param) shape[changed_dimension] = changed_extent;
    params.emplace_back(fmt::format("x{}", params.size()), tensor_type(dims_of(shape), tensor.dtype()));
    values.emplace_back(tensor);
    return params.back();
  }

  const Op& op_;
  std::map<std::int64_t, ScalarVar> symbols_;
};

}  // namespace

std::vector<Tensor*> OperatorCase::tensors() {
  std::vector<Tensor*> result;
  for (CaseArgument& argument : arguments) {
    if (auto* tensor = std::get_if<Tensor>(&argument.value)) result.push_back(tensor);
    if (auto* fields = std::get_if<std::vector<Tensor>>(&argument.value)) {
      for (Tensor& field : *fields) result.push_back(&field);
    }
  }
  return result;
}

std::vector<const Tensor*> OperatorCase::tensors() const {
  const std::vector<Tensor*> found = const_cast<OperatorCase*>(this)->tensors();
  return {found.begin(), found.end()};
}

std::set<std::int64_t> OperatorCase::extents() const {
  std::set<std::int64_t> result;
  for (const Tensor* tensor : tensors()) result.insert(tensor->shape().begin(), tensor->shape().end());
  return result;
}

bool computes_numbers(const Op& op) {
  return std::any_of(op.params.begin(), op.params.end(), [](const Param& param) {
    return param.kind != ParamKind::Any && param.kind != ParamKind::AnyRest;
  });
}

OperatorCase case_of_sample(const Op& op, std::string_view arguments, std::string label) {
  OperatorCase result{&op, std::move(label), {}};
  session().settings().draws = 0;  // the same numbers whatever was evaluated before
  for (const WrittenText& written : split_arguments(arguments)) {
    CaseArgument argument{written.name, {}};
    const Param* param = written_parameter(op, argument.name, result.arguments.size());
    argument.value = argument_of_script(evaluate(written.text), param);
    result.arguments.push_back(std::move(argument));
  }
  return result;
}

std::string text_of_sample(std::string_view text) { return text_of(evaluate(text)); }

Tensor tensor_of_text(std::string_view text, DType dtype) {
  const ScriptValue value = evaluate(text);
  if (const Tensor* tensor = value.tensor()) return converted(*tensor, dtype);
  return tensor_of(value, dtype, DType::Int64, DType::Float64, {});
}

Tensor tensor_of_json(const nlohmann::json& json) {
  const auto dtype = dtype_from_name(json.at("dtype").get<std::string>());
  RELISH_CHECK(dtype.has_value());
  Tensor tensor = Tensor::empty(*dtype, json.at("shape").get<Shape>());
  std::int64_t i = 0;
  for (const nlohmann::json& number : json.at("data")) {
    if (number.is_string()) {
      const auto text = number.get<std::string>();
      const double infinity = std::numeric_limits<double>::infinity();
      tensor.set_double(i++, text == "nan" ? std::nan("") : text == "inf" ? infinity : -infinity);
    } else if (is_float(*dtype)) {
      tensor.set_double(i++, number.get<double>());
    } else if (number.is_number_unsigned()) {
      tensor.set_int(i++, static_cast<std::int64_t>(number.get<std::uint64_t>()));
    } else {
      tensor.set_int(i++, number.get<std::int64_t>());
    }
  }
  return tensor;
}

OperatorCase case_of_json(const Op& op, const nlohmann::json& json) {
  OperatorCase result{&op, fmt::format("{} numbers '{}'", op.name, json.at("name").get<std::string>()), {}};
  for (const nlohmann::json& argument : json.at("args")) {
    if (argument.contains("shape_value")) {
      result.arguments.push_back({"", argument["shape_value"].get<Shape>()});
    } else if (argument.contains("tuple")) {
      std::vector<Tensor> fields;
      for (const nlohmann::json& field : argument["tuple"]) fields.push_back(tensor_of_json(field));
      result.arguments.push_back({"", std::move(fields)});
    } else if (argument.contains("scalar")) {
      result.arguments.push_back({"", scalar_of_json(argument)});
    } else {
      result.arguments.push_back({"", tensor_of_json(argument)});
    }
  }
  for (const auto& [name, value] : json.at("attributes").items()) {
    const CaseArgument argument{name, Attribute()};
    const Param* param = written_parameter(op, argument.name, 0);
    if (param && param->kind == ParamKind::Shape)
      result.arguments.push_back({name, value.get<Shape>()});
    else
      result.arguments.push_back({name, attribute_of_json(value)});
  }
  return result;
}

std::optional<OperatorCase> with_dtype(const OperatorCase& original, DType dtype) {
  OperatorCase result = original;
  bool changed = false;
  for (Tensor* tensor : result.tensors()) {
    if (!is_float(tensor->dtype())) continue;
    *tensor = converted(*tensor, dtype);
    changed = true;
  }
  if (!changed) return std::nullopt;
  result.label += fmt::format(" {}", name_of(dtype));
  return result;
}

std::optional<OperatorCase> with_extent(const OperatorCase& original, std::int64_t from, std::int64_t to) {
  OperatorCase result = original;
  for (Tensor* tensor : result.tensors()) {
    if (tensor->size() == 0) return std::nullopt;
    Shape shape = tensor->shape();
    std::replace(shape.begin(), shape.end(), from, to);
    Tensor resized = Tensor::empty(tensor->dtype(), shape);
    const auto bytes = static_cast<std::size_t>(size_of(tensor->dtype()));
    for (std::int64_t i = 0; i < resized.size(); ++i) {
      const auto source = static_cast<std::size_t>(i % tensor->size());
      std::copy_n(static_cast<const char*>(tensor->data()) + source * bytes, bytes,
                  static_cast<char*>(resized.mutable_data()) + static_cast<std::size_t>(i) * bytes);
    }
    *tensor = resized;
  }
  for (CaseArgument& argument : result.arguments) {
    if (auto* shape = std::get_if<Shape>(&argument.value))
      std::replace(shape->begin(), shape->end(), from, to);
  }
  result.label += fmt::format(" with {} for {}", to, from);
  return result;
}

namespace {

ArrangedArguments arranged_arguments(const OperatorCase& operator_case, CallBuilder& builder) {
  std::vector<WrittenArgument> written;
  for (const CaseArgument& argument : operator_case.arguments) written.push_back(builder.write(argument));
  return arrange_arguments(*operator_case.op, std::move(written), {});
}

}  // namespace

Attributes attributes_of(const OperatorCase& operator_case) {
  CallBuilder builder(*operator_case.op, {});
  return arranged_arguments(operator_case, builder).attributes;
}

Type infer_with_dimension(const OperatorCase& operator_case, std::size_t tensor, std::size_t dimension,
                          std::int64_t extent) {
  CallBuilder builder(*operator_case.op, {});
  builder.changed_param = tensor;
  builder.changed_dimension = dimension;
  builder.changed_extent = extent;
  ArrangedArguments arranged = arranged_arguments(operator_case, builder);
  return op_call(*operator_case.op, std::move(arranged.args), std::move(arranged.attributes)).type();
}

BuiltCall build_call(const OperatorCase& operator_case, const std::set<std::int64_t>& symbolic) {
  CallBuilder builder(*operator_case.op, symbolic);
  ArrangedArguments arranged = arranged_arguments(operator_case, builder);

  FunctionBuilder body;
  for (const Var& param : builder.params) body.reserve_name(param.name());
  body.begin_block(operator_case.op->pure);
  const Var result = body.bind(
      op_call(*operator_case.op, std::move(arranged.args), std::move(arranged.attributes)), "result", true);
  body.end_block();
  Function function;
  function.name = "main";
  function.pure = operator_case.op->pure;
  function.params = builder.params;
  function.result_type = result.type();
  function.blocks = body.take_blocks();
  function.result = result;
  Module module;
  module.name = "Case";
  module.set(std::make_shared<const Function>(std::move(function)));
  return {std::make_shared<const Module>(std::move(module)), builder.params, builder.values, result.type()};
}

Evaluator& interpreter() {
  static const std::unique_ptr<Evaluator> engine = make_interpreter();
  return *engine;
}

Evaluator& jit(int threads) {
  static std::map<int, std::unique_ptr<Evaluator>> engines;
  std::unique_ptr<Evaluator>& engine = engines[threads];
  if (!engine) engine = threads == 1 ? make_jit({.threads = 1}) : on_threads(jit(1), threads);
  return *engine;
}

std::vector<const Op*> operators_under_test() {
  start_language();
  const char* only = std::getenv("RELISH_OPS");
  // "1/2": every second operator, from the second on.
  const char* part = std::getenv("RELISH_OPS_PART");
  const std::string parts = part ? part : "0/1";
  const std::size_t slash = parts.find('/');
  const auto mine = std::strtoul(parts.c_str(), nullptr, 10);
  const auto count = std::max(1ul, std::strtoul(parts.c_str() + slash + 1, nullptr, 10));
  std::vector<const Op*> result;
  std::size_t number = 0;
  for (const Op* op : all_ops()) {
    const bool named = !only || op->name.find(only) != std::string_view::npos;
    if (named && number++ % count == mine) result.push_back(op);
  }
  return result;
}

}  // namespace relish::testing

// Calls: of built-ins that make tensors, of commands, operators and functions of modules.
#include <algorithm>

#include "ir/calls/entry.h"
#include "shell/command.h"
#include "shell/repl/faults/expression_check.h"
#include "shell/repl/faults/placeholder.h"
#include "shell/script/builtins.h"
#include "shell/script/function_arguments.h"
#include "shell/script/operator_types.h"
#include "shell/workspace/workspace.h"
#include "stdlib/surface.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::int64_t most_placeholder_bytes = std::int64_t{1} << 26;

// Whether its variables are solved by a value, or are already.
bool is_solvable(const TensorType& type, const SymbolValues& symbols) {
  if (!type.shape) return true;
  return std::all_of(type.shape->begin(), type.shape->end(), [&](const Scalar& dim) {
    if (dim.as_int() || dim.as_var()) return true;
    std::vector<ScalarVar> vars;
    collect_vars(dim, vars);
    return std::all_of(vars.begin(), vars.end(),
                       [&](const ScalarVar& var) { return symbols.contains(var.id()); });
  });
}

bool makes_tensors(std::string_view name) {
  return name == "zeros" || name == "ones" || name == "rand" || name == "randn";
}

}  // namespace

std::optional<ScriptValue> placeholder_of(const Type& type) {
  const TensorType* tensor = type.tensor();
  if (!tensor || !tensor->shape || !tensor->dtype) return std::nullopt;
  Shape shape;
  std::int64_t bytes = size_of(*tensor->dtype);
  for (const Scalar& dim : *tensor->shape) {
    const auto size = dim.as_int();
    if (!size || *size < 0 || (*size > 0 && bytes > most_placeholder_bytes / *size)) return std::nullopt;
    bytes *= *size;
    shape.push_back(*size);
  }
  return ScriptValue(Tensor::empty(*tensor->dtype, std::move(shape)));
}

std::optional<ExpressionCheck::Arguments> ExpressionCheck::arguments_of(const ast::Call& call) {
  Arguments arguments;
  bool stars = false;
  for (const ast::Argument& argument : call.arguments) {
    Known value = value_of(*argument.value);
    stars |= argument.stars > 0;
    arguments.all &= value.has_value();
    arguments.known.push_back(value.has_value());
    arguments.given.push_back({argument.name, value.value_or(ScriptValue()), argument.value->span});
  }
  return stars ? std::nullopt : std::optional(std::move(arguments));
}

ExpressionCheck::Known ExpressionCheck::value_of_call(const ast::Call& call, Span span) {
  if (const std::string* name = ast::name_of(*call.callee)) return call_name(*name, call, span);
  if (const std::string path = namespace_path(*call.callee); !path.empty())
    return path.starts_with("R.") ? call_operator(path.substr(2), call, span) : std::nullopt;
  const auto* method = call.callee->as<ast::Attribute>();
  const Known callee = value_of(*call.callee);
  if (const auto* function = callee ? callee->as<FunctionReference>() : nullptr)
    return call_function(*function, call, span);
  arguments_of(call);
  // A method may change the list or dict that a name holds.
  const std::string* held = method ? ast::name_of(*method->object) : nullptr;
  const Known object = held && !names_.is_local(*held) ? names_.value(*held) : std::nullopt;
  if (object && (object->sequence() || object->dictionary())) names_.bind(*held);
  return std::nullopt;
}

ExpressionCheck::Known ExpressionCheck::call_name(const std::string& name, const ast::Call& call, Span span) {
  if (names_.is_bound(name)) {
    const Known callee = names_.value(name);
    if (const auto* function = callee ? callee->as<FunctionReference>() : nullptr)
      return call_function(*function, call, span);
    arguments_of(call);
    return std::nullopt;
  }
  if (name == "donate") return call_donate(call);
  if (find_builtin(name)) return call_builtin(name, call, span);
  if (const Command* command = find_command(name); command && (command->surfaces & in_scripts))
    return call_command(*command, call);
  arguments_of(call);
  if (is_known_word(name)) return std::nullopt;
  // M.f may be called f.
  const Environment& environment = workspace_.script().environment();
  for (const std::string& each : environment.names()) {
    const auto* module = environment.peek(each)->as<ModulePtr>();
    if (environment.peek(each)->is_unread() || (module && (*module)->find(name))) return std::nullopt;
  }
  tell_unbound(*call.callee);
  return std::nullopt;
}

// The name stands for nothing behind it.
ExpressionCheck::Known ExpressionCheck::call_donate(const ast::Call& call) {
  arguments_of(call);
  const std::string* given = call.arguments.size() == 1 ? ast::name_of(*call.arguments[0].value) : nullptr;
  if (!given || names_.is_local(*given)) return std::nullopt;
  Known value = names_.value(*given);
  names_.remove(*given);
  return value;
}

ExpressionCheck::Known ExpressionCheck::call_builtin(const std::string& name, const ast::Call& call,
                                                     Span span) {
  auto arguments = arguments_of(call);
  if (!arguments || !arguments->all) return std::nullopt;
  CallArguments given(name, std::move(arguments->given), span);
  return checked(span, [&]() -> Known {
    if (name == "tensor") {
      const NamedValue& value = given.required("value");
      const NamedValue* dtype = given.optional("dtype");
      if (value.value.tensor()) return value.value;
      if (!value.value.sequence() && !value.value.is_number()) return std::nullopt;
      std::optional<DType> wanted;
      if (dtype && !dtype->value.is_none()) wanted = dtype_of_value(dtype->value, dtype->span);
      return ScriptValue(tensor_of(value.value, wanted, DType::Int64, DType::Float32, value.span));
    }
    if (!makes_tensors(name)) return std::nullopt;
    const NamedValue shape = given.dimensions("shape");
    const NamedValue* dtype = given.optional("dtype");
    std::vector<Scalar> dims;
    for (const std::int64_t size : shape_of(shape.value, shape.span)) dims.emplace_back(size);
    const bool plain = !dtype || dtype->value.is_none();
    return placeholder_of(
        tensor_type(std::move(dims), plain ? DType::Float32 : dtype_of_value(dtype->value, dtype->span)));
  });
}

ExpressionCheck::Known ExpressionCheck::call_command(const Command& command, const ast::Call& call) {
  // help(gradient) is of the name.
  if (command.subject == Subject::Name) return std::nullopt;
  arguments_of(call);
  std::vector<std::string> options;
  for (const Option& option : command.options)
    if (option.surfaces & in_scripts) options.emplace_back(option.name);
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name.empty() || std::find(options.begin(), options.end(), argument.name) != options.end())
      continue;
    const Span span = argument.name_span.known() ? argument.name_span : argument.value->span;
    checked(span, [&]() -> Known { unknown_option(command.name, options, argument.name, span); });
  }
  return std::nullopt;
}

ExpressionCheck::Known ExpressionCheck::call_operator(const std::string& name, const ast::Call& call,
                                                      Span span) {
  auto arguments = arguments_of(call);
  if (std::find(std::begin(relax_values), std::end(relax_values), name) != std::end(relax_values))
    return std::nullopt;
  const Op* op = find_op(name);
  if (!op) {
    tell_(call.callee->span,
          fmt::format("unknown operator 'R.{}'{}", printable(name), operator_advice(name)));
    return std::nullopt;
  }
  if (!arguments) return std::nullopt;
  if (arguments->all)
    return checked(span, [&] { return placeholder_of(type_of_operator_call(*op, arguments->given, span)); });
  for (std::size_t i = 0; i < arguments->given.size(); ++i) {
    const NamedValue& given = arguments->given[i];
    if (given.name.empty() || written_parameter(*op, given.name, i)) continue;
    checked(span, [&]() -> Known {
      arrange_arguments(*op, {{given.name, Attribute(), given.span}}, span);
      return std::nullopt;
    });
  }
  return std::nullopt;
}

ExpressionCheck::Known ExpressionCheck::call_function(const FunctionReference& function,
                                                      const ast::Call& call, Span span) {
  const auto arguments = arguments_of(call);
  if (!arguments) return std::nullopt;
  return checked(span, [&]() -> Known {
    const std::vector<CallParameter> parameters = call_parameters(*function.module, function.name);
    const std::vector<const NamedValue*> placed =
        placed_arguments(function.name, parameters, arguments->given, span);
    SymbolValues symbols;
    // Sizes first that are variables by themselves, then those that are made of them.
    for (const bool made : {false, true}) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const TensorType* wanted = parameters[i].type.tensor();
        const Tensor* tensor = placed[i]->value.tensor();
        if (!wanted || !tensor || is_solvable(*wanted, {}) == made || !is_solvable(*wanted, symbols))
          continue;
        match_value(Value(*tensor), parameters[i].type, symbols, ErrorClass::Data, placed[i]->span,
                    fmt::format("argument '{}' of {}", parameters[i].name, function.name));
      }
    }
    const FunctionPtr graph = function.module->function(function.name);
    if (!graph || !arguments->all) return std::nullopt;
    std::vector<ScalarVar> vars;
    collect_vars(graph->result_type, vars);
    const bool solved = std::all_of(vars.begin(), vars.end(),
                                    [&](const ScalarVar& var) { return symbols.contains(var.id()); });
    return solved ? placeholder_of(concrete_type(graph->result_type, symbols)) : std::nullopt;
  });
}

}  // namespace relish

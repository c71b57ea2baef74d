// Calls by what is called: functions of the module, nested ones, operators.
#include <fmt/format.h>

#include "frontend/graph/graph_calls.h"
#include "frontend/graph/graph_hints.h"
#include "ir/printer/printer.h"
#include "runtime/literal.h"
#include "stdlib/places_of_names.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {

// Numbers and lists of them become tensors where the function takes these.
std::vector<Expr> GraphCalls::call_arguments(const ast::Call& call, const Type& callee) {
  std::vector<Expr> args;
  const FunctionType* function = callee.function();
  for (const ast::Argument& argument : call.arguments) {
    if (!argument.name.empty() || argument.stars) {
      Span at = argument.name.empty() ? argument.value->span : argument.name_span;
      type_error(at, "call.keyword", "found a named argument of a function; expected its arguments in order");
    }
    const bool known = function && !function->opaque && args.size() < function->params.size();
    const TensorType* tensor = known ? function->params[args.size()].tensor() : nullptr;
    const ast::Expr& value = *argument.value;
    const bool literal = tensor && tensor->dtype && (is_number(value) || is_number_list(value));
    args.push_back(literal ? literal_argument(value, *tensor->dtype) : leaf(value));
  }
  return args;
}

Expr GraphCalls::called(const Expr& callee, const std::vector<Expr>& args, const std::string& name,
                        Span span) {
  const Expr result =
      checked([&] { return function_call(callee, args, span); }, span, FunctionCall{callee, args});
  if (!holes_.among(args)) return result;
  const FunctionType* type = callee.type().function();
  for (std::size_t i = 0; type && i < std::min(args.size(), type->params.size()); ++i) {
    const std::string parameter = i < type->param_names.size()
                                      ? fmt::format("'{}'", printable(type->param_names[i]))
                                      : fmt::format("parameter {}", i + 1);
    holes_.want(args[i], type->params[i], fmt::format("{} of {}", parameter, printable(name)), span);
  }
  holes_.use(
      result,
      {args, [=](const std::vector<Expr>& values) { return function_call(callee, values, span); }, {}, span});
  return result;
}

// What is known of a value that a prim_func is called with must not contradict its parameter.
void GraphCalls::check_prim_func_argument(const PrimFunc& function, std::size_t at, const Expr& value) {
  const Buffer* buffer = function.params[at].buffer();
  const Type& type = value.type();
  if (holes_.is_hole(value)) {
    const Type wanted = buffer ? tensor_type(buffer->shape(), buffer->dtype())
                               : Type(ScalarType{function.params[at].scalar()->dtype()});
    holes_.want(value, wanted,
                fmt::format("'{}' of {}", buffer ? buffer->name() : function.params[at].name(),
                            printable(function.name)),
                value.span());
  }
  if (type.is_error() || type.as<AnyType>()) return;
  if (buffer && buffer->is_pointer() && buffer->rank() == 0) return;  // to what nobody says
  bool clash = false;
  if (!buffer) {
    const ScalarType* scalar = type.as<ScalarType>();
    DType wanted = function.params[at].scalar()->dtype();
    clash = !scalar || (scalar->dtype != wanted && !(is_int(scalar->dtype) && is_int(wanted)));
  } else if (const TensorType* tensor = type.tensor()) {
    clash = (tensor->dtype && *tensor->dtype != buffer->dtype()) ||
            (tensor->rank >= 0 && tensor->rank != buffer->rank());
    for (std::size_t d = 0; !clash && tensor->shape && d < tensor->shape->size(); ++d) {
      auto found = (*tensor->shape)[d].as_int(), expected = buffer->shape()[d].as_int();
      clash = found && expected && *found != *expected;
    }
  } else {
    clash = true;
  }
  if (!clash) return;
  Type wanted = buffer ? tensor_type(buffer->shape(), buffer->dtype())
                       : Type(ScalarType{function.params[at].scalar()->dtype()});
  fail(ErrorClass::Type, value.span(), "call.prim_func",
       fmt::format("argument of type {} is given for '{}' of {}; expected {}", print(type),
                   buffer ? buffer->name() : function.params[at].name(), printable(function.name),
                   print(wanted)));
}

std::optional<int> GraphCalls::rank_of(const std::string& name) {
  const Entry* entry = look_up(name);
  const auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
  const TensorType* tensor = bound ? bound->var.type().tensor() : nullptr;
  return tensor && tensor->rank >= 0 ? std::optional(tensor->rank) : std::nullopt;
}

Expr GraphCalls::call_global(const GlobalMeaning& meaning, const ast::Expr& expr, const ast::Call& call) {
  std::vector<Expr> args = call_arguments(call, meaning.reference.type());
  if (meaning.reference.type().is_error()) throw ReadContext::Silent{};
  if (meaning.prim_func && args.size() != meaning.prim_func->params.size()) {
    type_error(expr.span, "call.prim_func",
               fmt::format("found a call of the prim_func '{0}' with {1}; expected its {2}, with the "
                           "destinations, or R.call_tir({0}, (...), out_ty=...)",
                           ast::dotted_name(*call.callee), counted(args.size(), "argument"),
                           meaning.prim_func->params.size()));
  }
  if (meaning.prim_func) {
    for (std::size_t i = 0; i < args.size(); ++i) check_prim_func_argument(*meaning.prim_func, i, args[i]);
  }
  if (meaning.is_extern) {
    type_error(
        expr.span, "call.extern",
        fmt::format("found a call of the native function {}; expected R.call_packed or R.call_dps_packed",
                    ast::describe(*call.callee)));
  }
  return called(meaning.reference, args, ast::dotted_name(*call.callee), expr.span);
}

// n.astype("float32") of a scalar, as of TVM's.
std::optional<Expr> GraphCalls::converted_scalar(const ast::Expr& object, const ast::Call& call, Span span) {
  if (call.arguments.size() != 1) return std::nullopt;
  const auto* dtype = call.arguments[0].value->as<ast::StringValue>();
  const auto scalar = dtype ? known_scalar(leaf(object)) : std::nullopt;
  if (!scalar) return std::nullopt;
  return scalar_value(cast(read_dtype(dtype->value, call.arguments[0].value->span), *scalar, span), span);
}

Expr GraphCalls::call(const ast::Expr& expr, const ast::Call& call) {
  const ast::Expr& callee = *call.callee;
  // A name: a function value, or a function of the module.
  if (const std::string* name = ast::name_of(callee)) {
    if (Entry* entry = look_up(*name); entry && !std::get_if<ModuleAlias>(&entry->meaning)) {
      Expr function = name_value(callee, *name);
      std::vector<Expr> args = call_arguments(call, function.type());
      return called(function, args, *name, expr.span);
    }
    if (auto meaning = globals_.find_global(*name, callee.span)) return call_global(*meaning, expr, call);
  }
  if (auto member = module_member(callee)) {
    auto meaning = globals_.find_global(*member, callee.span);
    if (!meaning) fail_unknown_name(*member, callee.as<ast::Attribute>()->name_span, globals_.global_names());
    return call_global(*meaning, expr, call);
  }
  // x.astype("float16"): a method of a value, whose first name is a variable or which is no name at all.
  auto* attribute = callee.as<ast::Attribute>();
  if (attribute) {
    std::string dotted = ast::dotted_name(callee);
    std::string base = dotted.substr(0, dotted.find('.'));
    if (Entry* entry = look_up(base); entry && std::get_if<Refused>(&entry->meaning))
      throw ReadContext::Silent{};
    if (dotted.empty() || look_up(base)) {
      if (attribute->name != "astype") {
        type_error(attribute->name_span, "method.unknown",
                   fmt::format("found the method '{}'{}", printable(attribute->name),
                               method_hint(*attribute, call,
                                           [&](const std::string& each) { return rank_of(each); })));
      }
      if (auto scalar = converted_scalar(*attribute->object, call, expr.span)) return *scalar;
      return operator_call("R.astype", expr, call, attribute->object.get());
    }
  }
  if (callee.as<ast::Call>()) {
    Expr function = leaf(callee);
    if (function.type().is_error()) throw ReadContext::Silent{};
    std::vector<Expr> args = call_arguments(call, function.type());
    return called(function, args, "the function", expr.span);
  }
  std::string name = context_.namespaces.canonical(callee);
  if (auto special = special_call(name, expr, call)) return *special;
  if (name.substr(0, 2) == "R.") return operator_call(name, expr, call, nullptr);
  if (name.substr(0, 2) == "T.") return scalar_value(scalars_.read(expr), expr.span);
  if (name.empty()) {
    type_error(callee.span, "call.callee",
               fmt::format("found a call of {}; expected a function", ast::describe(callee)));
  }
  if (name.find('.') != std::string::npos) {
    const std::string root = name.substr(0, name.find('.'));
    const Span at{callee.span.file, callee.span.begin,
                  static_cast<std::uint32_t>(callee.span.begin + root.size())};
    const std::string hint = library_hint(call, [&](const std::string& each) { return rank_of(each); });
    if (!hint.empty()) {
      type_error(
          callee.span, "call.callee",
          fmt::format("found a call of '{}', which an R.function cannot call{}", printable(name), hint));
    }
    fail(ErrorClass::Type, callee.span, "call.callee",
         fmt::format("found a call of '{}', which an R.function cannot call; expected an operator of R or a "
                     "function of the module",
                     printable(name)),
         write_nearest(at, root, std::vector<std::string>{"R", "T", "cls"}));
  }
  // A dimension as a number.
  if (name == "float" && call.arguments.size() == 1 && call.arguments[0].stars == 0) {
    const std::string* given = ast::name_of(*call.arguments[0].value);
    if (given && std::holds_alternative<Scalar>(find(*given, expr.span))) {
      type_error(
          callee.span, "name.unknown",
          fmt::format("found the name 'float', which is not defined here; write T.float32({})", *given));
    }
  }
  // A name of the script or of a function that stands further down is told as such.
  std::string hint = context_.is_script_name(name) ? "" : bare_call_hint(name, call);
  if (const auto instead = written_in_functions(name); hint.empty() && !instead.empty())
    hint = fmt::format("; {}", instead);
  if (!hint.empty()) {
    type_error(callee.span, "name.unknown",
               fmt::format("found the name '{}', which is not defined here{}", printable(name), hint));
  }
  unknown_name(name, callee.span);
}

}  // namespace relish

// Calling the gradient that a call names.
#include "transform/gradient/given_gradient.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/printer/printer.h"
#include "support/failure.h"
#include "support/render.h"
#include "transform/gradient/adjoint.h"
#include "transform/gradient/rules.h"

namespace relish {
namespace {

// The types of the tensors among the arguments, which are those of the gradients.
std::vector<Type> tensor_types(const CallTir& call) {
  std::vector<Type> types;
  for (const Expr& arg : call.args)
    if (arg.type().tensor()) types.push_back(arg.type());
  return types;
}

// A number of te_grad_kwargs as a scalar of that dtype; nothing for what is no number.
std::optional<Expr> as_scalar(const Attribute& attribute, DType dtype, Span span) {
  std::optional<double> number;
  if (const auto* value = attribute.as<std::int64_t>()) number = static_cast<double>(*value);
  if (const auto* value = attribute.as<double>()) number = *value;
  if (const auto* value = attribute.as<bool>()) number = *value ? 1 : 0;
  if (!number || (!is_float(dtype) && *number != static_cast<double>(static_cast<std::int64_t>(*number))))
    return std::nullopt;
  return scalar_value(literal(dtype, *number, span), span);
}

// The named arguments behind the first `given` parameters; nothing when they do not fit.
std::optional<std::vector<Expr>> named_arguments(const std::vector<std::pair<std::string, Type>>& params,
                                                 std::size_t given, const CallTir& call, Span span) {
  std::vector<Expr> args;
  if (params.size() != given + call.gradient_arguments.size()) return std::nullopt;
  for (std::size_t i = given; i < params.size(); ++i) {
    const Attribute* named = find_attribute(call.gradient_arguments, params[i].first);
    const auto* scalar = params[i].second.as<ScalarType>();
    const auto value = named && scalar ? as_scalar(*named, scalar->dtype, span) : std::nullopt;
    if (!value) return std::nullopt;
    args.push_back(*value);
  }
  return args;
}

// Tensors of a prim_func that the call fills: cotangents and arguments.
std::vector<std::pair<std::string, Type>> inputs_of(const PrimFunc& function, std::size_t results) {
  std::vector<std::pair<std::string, Type>> buffers, scalars;
  for (const PrimParam& param : function.params) {
    if (param.scalar())
      scalars.emplace_back(param.name(), ScalarType{param.scalar()->dtype()});
    else
      buffers.emplace_back(param.name(), tensor_type(param.buffer()->shape(), param.buffer()->dtype()));
  }
  buffers.resize(buffers.size() - std::min(results, buffers.size()));
  buffers.insert(buffers.end(), scalars.begin(), scalars.end());
  return buffers;
}

// The call; nothing when the function does not take what it is given.
std::optional<Expr> call_of_given(const Module& module, const CallTir& call, const Expr& cotangent,
                                  Span span) {
  std::vector<Expr> tensors, scalars;
  if (const auto* fields = cotangent.as<TupleExpr>())
    tensors = fields->fields;
  else
    tensors.push_back(cotangent);
  const GlobalFunction* given = module.find(call.gradient_name);
  if (const FunctionPtr function = module.function(call.gradient_name)) {
    std::vector<Expr> args = tensors;
    args.insert(args.end(), call.args.begin(), call.args.end());
    std::vector<std::pair<std::string, Type>> params;
    for (const Var& param : function->params) params.emplace_back(param.name(), param.type());
    const auto named = named_arguments(params, args.size(), call, span);
    if (!named) return std::nullopt;
    args.insert(args.end(), named->begin(), named->end());
    return function_call(global_ref(*given, span), std::move(args), span);
  }
  const PrimFuncPtr prim = module.prim_func(call.gradient_name);
  if (!prim) return std::nullopt;
  for (const Expr& arg : call.args) (arg.type().as<ScalarType>() ? scalars : tensors).push_back(arg);
  const std::vector<Type> types = tensor_types(call);
  const auto params = inputs_of(*prim, types.size());
  const auto named = named_arguments(params, tensors.size() + scalars.size(), call, span);
  if (!named) return std::nullopt;
  tensors.insert(tensors.end(), scalars.begin(), scalars.end());
  tensors.insert(tensors.end(), named->begin(), named->end());
  return call_tir(global_ref(*given, span), std::move(tensors), types, types.size() > 1, span);
}

}  // namespace

void check_given_gradient(const Module& module, const CallTir& call, Span span, Diagnostics& diagnostics) {
  const std::string name = printable(call.gradient_name);
  if (!module.function(call.gradient_name) && !module.prim_func(call.gradient_name)) {
    diagnostics
        .error(ErrorClass::Type, span, "gradient.missing",
               fmt::format("the gradient '{}' that this call names is no function of the module", name))
        .note(fmt::format("write it: def {}(cotangent, arguments…), which gives a gradient for each tensor "
                          "among the arguments; or write R.call_tir, whose prim_func is differentiated",
                          name));
    return;
  }
  std::vector<Expr> cotangents;
  for (const Type& type : call.out_types) cotangents.emplace_back(Var("ct", type, false, span));
  const Expr cotangent = call.tuple_result ? tuple(cotangents, span) : cotangents.front();
  const std::vector<Type> wanted = tensor_types(call);
  bool fits = false;
  std::string found = "other arguments";
  try {
    if (const auto made = call_of_given(module, call, cotangent, span)) {
      const TupleType* fields = made->type().tuple();
      fits = fields ? fields->fields.size() == wanted.size() : wanted.size() == 1;
      found = print(made->type());
    }
  } catch (const Failure& failure) {
    if (failure.error_class() != ErrorClass::Type) throw;
    found = failure.diagnostics().front().message;
  }
  if (fits) return;
  diagnostics.error(
      ErrorClass::Type, span, "gradient.missing",
      fmt::format("the gradient '{}' that this call names does not fit it: found {}; expected a function of "
                  "the cotangents of the results, the arguments and te_grad_kwargs, which gives a gradient "
                  "for each of {} tensors",
                  name, found, wanted.size()));
}

void check_written(const std::vector<Expr>& inputs, const FunctionPtr& written, const Binding& binding,
                   Diagnostics& diagnostics) {
  const Span span = binding.value().span().known() ? binding.value().span() : binding.span;
  FunctionBuilder builder;
  builder.set_origin(span);
  builder.begin_block(false);
  std::string found;
  try {
    const Expr output(binding.var());
    std::vector<Expr> fields;
    if (const TupleType* outputs = binding.var().type().tuple())
      for (const Type& type : outputs->fields) fields.emplace_back(Var("ct", type, false, span));
    const Expr cotangent =
        fields.empty() ? Expr(Var("ct", binding.var().type(), false, span)) : tuple(fields, span);
    const Expr made = call_of_written(inputs, written, binding.var(), cotangent, builder);
    const TupleType* gradients = made.type().tuple();
    const std::size_t count = gradients ? gradients->fields.size() : 1;
    bool fits = count == inputs.size();
    for (std::size_t i = 0; fits && i < count; ++i) {
      const Type& gradient = gradients ? gradients->fields[i] : made.type();
      fits = !has_floats(inputs[i].type()) || !has_floats(gradient) ||
             relish::fits(gradient, inputs[i].type()) != Fit::Never;
    }
    if (fits) return;
    found = fmt::format("it gives {}", print(made.type()));
  } catch (const Failure& failure) {
    if (failure.error_class() != ErrorClass::Type) throw;
    found = failure.diagnostics().front().message;
  }
  diagnostics
      .error(ErrorClass::Type, span, "gradient.written",
             fmt::format("the gradient '{}' does not fit this call: {}; expected a function of its {} {}, "
                         "its results and their cotangents, which gives a gradient for each argument",
                         printable(written->name), found, inputs.size(),
                         inputs.size() == 1 ? "argument" : "arguments"))
      .note(written->span, "it is written here");
}

std::vector<Expr> given_partials(const Module& module, const CallTir& call, const Expr& cotangent,
                                 FunctionBuilder& builder) {
  const Span span = builder.origin();
  const std::optional<Expr> made = call_of_given(module, call, cotangent, span);
  RELISH_CHECK(made.has_value(), "a gradient that does not fit was not refused");
  const Expr gradients = builder.emit(*made, "lv");
  std::vector<Expr> partials;
  int next = 0;
  for (const Expr& arg : call.args) {
    if (!arg.type().tensor()) {
      partials.emplace_back();
      continue;
    }
    const Expr partial = gradients.type().tuple() ? tuple_get(gradients, next++, span) : gradients;
    partials.push_back(has_floats(partial.type()) ? partial : Expr());
  }
  return partials;
}

}  // namespace relish

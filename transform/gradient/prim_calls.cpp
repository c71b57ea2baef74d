// Calls of prim_funcs backwards.
#include "transform/gradient/prim_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/calls/call_layout.h"
#include "ir/calls/foreign_calls.h"
#include "ir/printer/printer.h"
#include "loops/prim_calls.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

bool is_float_buffer(const PrimParam& param) { return param.buffer() && is_float(param.buffer()->dtype()); }

}  // namespace

PrimFuncPtr whole_prim_func(const Module& module, const std::string& name) {
  const PrimFuncPtr function = module.prim_func(name);
  if (!function || called_prim_funcs(*function).empty()) return function;
  return with_prim_calls_replaced(std::make_shared<const Module>(module), name)->prim_func(name);
}

PrimAdjoints::Parts PrimAdjoints::parts_of(const CallTir& call, const TakesPart& takes_part,
                                           const std::vector<bool>& given, Span span) {
  Parts parts;
  parts.function = whole_prim_func(module_, call.callee.as<GlobalRef>()->name);
  RELISH_CHECK(parts.function != nullptr, "a call_tir of what is no prim_func");
  const std::vector<ParamSource> layout = call_layout(*parts.function, call, span);
  parts.argument_of.assign(layout.size(), call.args.size());
  parts.result_of.assign(layout.size(), call.out_types.size());
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const std::size_t index = layout[i].index;
    if (layout[i].kind == ParamSource::Argument) {
      parts.argument_of[i] = index;
      if (!is_float_buffer(parts.function->params[i]) || !takes_part(call.args[index])) continue;
      parts.wrt.push_back(i);
      parts.arguments.push_back(index);
    } else {
      parts.result_of[i] = index;
      if (is_float_buffer(parts.function->params[i]) && given[index]) parts.outputs.push_back(i);
    }
  }
  return parts;
}

PrimAdjoints::Made& PrimAdjoints::adjoint_of(const Parts& parts, std::size_t results) {
  const std::string& name = parts.function->name;
  const std::string key =
      fmt::format("{} {} {}", name, fmt::join(parts.wrt, ","), fmt::join(parts.outputs, ","));
  const auto [place, fresh] = made_.try_emplace(key);
  if (fresh)
    place->second.adjoint = prim_adjoint(*parts.function, results, parts.wrt, parts.outputs,
                                         name + "_adjoint", place->second.obstacles);
  return place->second;
}

void PrimAdjoints::check(const CallTir& call, Span span, const TakesPart& takes_part,
                         Diagnostics& diagnostics) {
  if (!call.inplace_indices.empty()) {
    diagnostics
        .error(ErrorClass::Type, span, "gradient.missing",
               "this call_tir_inplace is on the gradient's path, and what it overwrites would be needed")
        .note("write R.call_tir, which gives a result of its own");
    return;
  }
  const Parts parts = parts_of(call, takes_part, std::vector<bool>(call.out_types.size(), true), span);
  for (const std::size_t argument : parts.arguments) {
    if (fully_known(call.args[argument].type())) continue;
    diagnostics.error(ErrorClass::Type,
                      call.args[argument].span().known() ? call.args[argument].span() : span,
                      "gradient.missing",
                      fmt::format("the gradient of this call_tir needs the shape of its argument, which has "
                                  "type {}; bind it with R.match_cast first",
                                  print(call.args[argument].type())));
    return;
  }
  if (parts.wrt.empty() || parts.outputs.empty()) return;
  Made& made = adjoint_of(parts, call.out_types.size());
  for (const Obstacle& obstacle : made.obstacles) {
    diagnostics
        .error(ErrorClass::Type, obstacle.span.known() ? obstacle.span : span, "gradient.prim_func",
               fmt::format("the gradient of '{}' is not known: {}", printable(parts.function->name),
                           obstacle.what))
        .note(
            fmt::format("write it as an R.function with R.func_attr({{\"relish.gradient_of\": \"{}\"}}), or "
                        "store to a buffer of its own what is needed again",
                        printable(parts.function->name)))
        .note(span, "it is called here, on the gradient's path");
  }
  made.obstacles.clear();  // told once
}

std::vector<Expr> PrimAdjoints::partials(const CallTir& call, const TakesPart& takes_part,
                                         const std::vector<Expr>& cotangents,
                                         const std::function<Expr(std::size_t)>& values,
                                         FunctionBuilder& builder) {
  std::vector<Expr> result(call.args.size());
  const Span span = builder.origin();
  std::vector<bool> given;
  for (const Expr& cotangent : cotangents) given.push_back(cotangent.defined());
  const Parts parts = parts_of(call, takes_part, given, span);
  if (parts.wrt.empty() || parts.outputs.empty()) return result;
  Made& made = adjoint_of(parts, call.out_types.size());
  RELISH_CHECK(made.adjoint.has_value(), "a call_tir whose gradient is not known was not refused");
  if (made.name.empty()) {
    made.name = module_.fresh_name(made.adjoint->function.name);
    PrimFunc function = made.adjoint->function;
    function.name = made.name;
    module_.set(std::make_shared<const PrimFunc>(std::move(function)));
  }
  std::vector<Expr> args;
  for (const std::size_t param : made.adjoint->values) {
    const bool argument = parts.argument_of[param] < call.args.size();
    args.push_back(argument ? call.args[parts.argument_of[param]] : values(parts.result_of[param]));
  }
  for (const std::size_t param : parts.outputs) args.push_back(cotangents[parts.result_of[param]]);
  for (std::size_t i = 0; i < parts.function->params.size(); ++i)
    if (parts.function->params[i].scalar()) args.push_back(call.args[parts.argument_of[i]]);
  std::vector<Type> types;
  for (const std::size_t argument : parts.arguments) types.push_back(call.args[argument].type());
  const bool several = types.size() > 1;
  const Expr callee = global_ref(GlobalFunction(module_.prim_func(made.name)), span);
  Expr gradients = call_tir(callee, std::move(args), types, several, span);
  if (!several) {
    result[parts.arguments.front()] = gradients;
    return result;
  }
  gradients = builder.emit(gradients, "lv");
  for (std::size_t i = 0; i < parts.arguments.size(); ++i)
    result[parts.arguments[i]] = tuple_get(gradients, static_cast<int>(i), span);
  return result;
}

}  // namespace relish

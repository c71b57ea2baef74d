// Calls of prim_funcs backwards.
#include "transform/gradient/prim_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/calls/call_layout.h"
#include "ir/calls/foreign_calls.h"
#include "ir/printer/printer.h"
#include "loops/prim_calls.h"
#include "support/failure.h"
#include "support/render.h"
#include "transform/gradient/reverse_execution.h"

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
    const PrimParam& param = parts.function->params[i];
    std::size_t result = call.out_types.size();
    if (layout[i].kind == ParamSource::Result) {
      result = index;
    } else {
      parts.argument_of[i] = index;
      if (param.buffer()) parts.inputs.push_back(i);
      if (is_float_buffer(param) && takes_part(call.args[index])) {
        parts.wrt.push_back(i);
        parts.arguments.push_back(index);
      }
      const auto& places = call.inplace_indices;
      const auto here = std::find(places.begin(), places.end(), static_cast<std::int64_t>(index));
      if (here != places.end() && param.buffer()) result = static_cast<std::size_t>(here - places.begin());
    }
    if (result == call.out_types.size()) continue;
    parts.result_of[i] = result;
    parts.results.push_back(i);
    if (is_float_buffer(param) && given[result]) parts.outputs.push_back(i);
  }
  return parts;
}

PrimAdjoints::Made& PrimAdjoints::adjoint_of(const Parts& parts, std::size_t results) {
  const std::string& name = parts.function->name;
  const std::string key = fmt::format("{} {} {} {}", name, fmt::join(parts.wrt, ","),
                                      fmt::join(parts.outputs, ","), fmt::join(parts.results, ","));
  const auto [place, fresh] = made_.try_emplace(key);
  if (!fresh) return place->second;
  // Where no value is read before its last change the statements can be differentiated one by one, which
  // gives loops that run at once; else they run backwards.
  Made& made = place->second;
  std::vector<Obstacle> obstacles;
  made.adjoint =
      prim_adjoint(*parts.function, results, parts.wrt, parts.outputs, name + "_adjoint", obstacles);
  if (!made.adjoint)
    made.adjoint = reverse_execution(*parts.function, parts.results, parts.inputs, parts.wrt, parts.outputs,
                                     name + "_adjoint", made.obstacles);
  return place->second;
}

void PrimAdjoints::check(const CallTir& call, Span span, const TakesPart& takes_part,
                         Diagnostics& diagnostics) {
  const Parts parts = parts_of(call, takes_part, std::vector<bool>(call.out_types.size(), true), span);
  for (const std::size_t argument : parts.arguments) {
    if (fully_known(call.args[argument].type())) continue;
    diagnostics
        .error(ErrorClass::Type, call.args[argument].span().known() ? call.args[argument].span() : span,
               "gradient.missing",
               fmt::format("the gradient of this call_tir needs the shape of its argument, which has type {}",
                           print(call.args[argument].type())))
        .note("bind it with R.match_cast first, to a type that tells its shape and dtype");
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

std::string_view PrimAdjoints::kept_by(const CallTir& call, Span span, const TakesPart& takes_part) {
  const Parts parts = parts_of(call, takes_part, std::vector<bool>(call.out_types.size(), true), span);
  if (parts.wrt.empty() || parts.outputs.empty()) return "nothing";
  const Made& made = adjoint_of(parts, call.out_types.size());
  RELISH_CHECK(made.adjoint.has_value(), "a call_tir whose gradient is not known was not refused");
  switch (made.adjoint->keeps) {
    case PrimAdjoint::Buffers:
      return "buffers";
    case PrimAdjoint::Recompute:
      return "recompute";
    case PrimAdjoint::Tape:
      return "tape";
  }
  return {};
}

// A run of its own counts how long the tapes of the adjoint get.
void PrimAdjoints::add_sizes(const Made& made, const Parts& parts, const CallTir& call,
                             FunctionBuilder& builder, std::vector<Expr>& args) {
  const Span span = builder.origin();
  const PrimFuncPtr counter = module_.prim_func(made.counter);
  std::vector<Expr> values;
  for (const std::size_t param : parts.inputs) values.push_back(call.args[parts.argument_of[param]]);
  for (std::size_t i = 0; i < parts.function->params.size(); ++i)
    if (parts.function->params[i].scalar()) values.push_back(call.args[parts.argument_of[i]]);
  const Buffer& counts = *counter->params[parts.inputs.size()].buffer();
  const Type type = tensor_type(counts.shape(), DType::Int64);
  const Expr counted = builder.emit(
      call_tir(global_ref(GlobalFunction(counter), span), std::move(values), {type}, false, span), "lv");
  const Expr shape = builder.emit(op_call("tensor_to_shape", {counted}, {}, span), "lv");
  ShapeType sizes;
  sizes.dims.emplace();
  sizes.rank = static_cast<int>(*counts.shape()[0].as_int());
  for (std::int64_t k = 0; k < *counts.shape()[0].as_int(); ++k) {
    const ScalarVar size(builder.fresh_name("size"), DType::Int64, span);
    sizes.dims->push_back(use(size));
    args.push_back(scalar_value(use(size), span));
  }
  Binding cast;
  cast.kind = MatchCast{Var(builder.fresh_name("sizes"), Type(sizes), false, span), shape, Type(sizes)};
  cast.span = span;
  builder.append(cast);
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
    if (made.adjoint->counter) {
      PrimFunc counter = *made.adjoint->counter;
      made.counter = module_.fresh_name(counter.name);
      counter.name = made.counter;
      module_.set(std::make_shared<const PrimFunc>(std::move(counter)));
    }
  }
  std::vector<Expr> args;
  for (const std::size_t param : made.adjoint->values) {
    const bool argument = parts.argument_of[param] < call.args.size();
    args.push_back(argument ? call.args[parts.argument_of[param]] : values(parts.result_of[param]));
  }
  const std::size_t first_cotangent = args.size();
  for (const std::size_t param : parts.outputs) args.push_back(cotangents[parts.result_of[param]]);
  for (std::size_t i = 0; i < parts.function->params.size(); ++i)
    if (parts.function->params[i].scalar()) args.push_back(call.args[parts.argument_of[i]]);
  if (made.adjoint->counter) add_sizes(made, parts, call, builder, args);
  std::vector<Type> types;
  for (const std::size_t argument : parts.arguments) types.push_back(call.args[argument].type());
  const bool several = types.size() > 1;
  const Expr callee = global_ref(GlobalFunction(module_.prim_func(made.name)), span);
  CallTir back{.callee = callee, .args = std::move(args), .out_types = types, .tuple_result = several};
  const auto& in_place = made.adjoint->in_place;
  if (std::any_of(in_place.begin(), in_place.end(), [](const auto& each) { return each.has_value(); }))
    for (const auto& each : in_place)
      back.inplace_indices.push_back(each ? static_cast<std::int64_t>(first_cotangent + *each) : -1);
  Expr gradients = call_tir(std::move(back), span);
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

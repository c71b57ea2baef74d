// Calls of prim_funcs with tangents.
#include "transform/forward/prim_tangent_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/calls/call_layout.h"
#include "support/failure.h"
#include "support/render.h"
#include "transform/gradient/prim_calls.h"

namespace relish {

PrimTangents::Layout PrimTangents::layout_of(const CallTir& call, const TakesPart& takes_part,
                                             Span span) const {
  Layout result;
  result.function = whole_prim_func(module_, call.callee.as<GlobalRef>()->name);
  RELISH_CHECK(result.function != nullptr, "a call_tir of what is no prim_func");
  const std::vector<ParamSource> layout = call_layout(*result.function, call, span);
  result.argument_count = call.args.size();
  result.argument_of.assign(layout.size(), call.args.size());
  result.result_of.assign(layout.size(), call.out_types.size());
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const std::size_t index = layout[i].index;
    const Buffer* buffer = result.function->params[i].buffer();
    if (layout[i].kind == ParamSource::Result) {
      result.result_of[i] = index;
      continue;
    }
    result.argument_of[i] = index;
    if (buffer && is_float(buffer->dtype()) && takes_part(call.args[index])) result.wrt.push_back(i);
    // A result in its place.
    for (std::size_t k = 0; buffer && k < call.inplace_indices.size(); ++k)
      if (call.inplace_indices[k] == static_cast<std::int64_t>(index)) result.result_of[i] = k;
  }
  return result;
}

PrimTangents::Made& PrimTangents::tangent_of(const Layout& layout) {
  const std::string& name = layout.function->name;
  std::size_t results = 0;  // that are no arguments
  for (std::size_t i = 0; i < layout.argument_of.size(); ++i)
    results += layout.argument_of[i] == layout.argument_count ? 1 : 0;
  const std::string key = fmt::format("{} {} {}", name, results, fmt::join(layout.wrt, ","));
  const auto [place, fresh] = made_.try_emplace(key);
  if (fresh)
    place->second.tangent =
        prim_tangent(*layout.function, results, layout.wrt, name + "_jvp", place->second.obstacles);
  return place->second;
}

void PrimTangents::check(const CallTir& call, Span span, const TakesPart& takes_part,
                         Diagnostics& diagnostics) {
  const Layout layout = layout_of(call, takes_part, span);
  if (layout.wrt.empty()) return;
  Made& made = tangent_of(layout);
  for (const Obstacle& obstacle : made.obstacles) {
    diagnostics
        .error(ErrorClass::Type, obstacle.span.known() ? obstacle.span : span, "gradient.prim_func",
               fmt::format("the tangent of '{}' is not known: {}", printable(layout.function->name),
                           obstacle.what))
        .note(fmt::format("write it as an R.function with R.func_attr({{\"relish.gradient_of\": \"{}\"}})",
                          printable(layout.function->name)))
        .note(span, "it is called here, on the way of the tangents");
  }
  made.obstacles.clear();  // told once
}

std::optional<PrimTangentCall> PrimTangents::call_with_tangents(
    const CallTir& call, const TakesPart& takes_part, const std::function<Expr(const Expr&)>& tangent_of_arg,
    Span span) {
  const Layout layout = layout_of(call, takes_part, span);
  if (layout.wrt.empty()) return std::nullopt;
  Made& made = tangent_of(layout);
  RELISH_CHECK(made.tangent.has_value(), "a call_tir whose tangent is not known was not refused");
  const PrimTangent& tangent = *made.tangent;
  PrimTangentCall result;
  const auto add_output = [&](std::size_t param) {
    if (layout.result_of[param] < call.out_types.size()) result.outputs.push_back(layout.result_of[param]);
  };
  for (const std::size_t param : tangent.inputs) add_output(param);
  for (const std::size_t param : tangent.outputs) add_output(param);
  if (result.outputs.empty()) return std::nullopt;
  std::sort(result.outputs.begin(), result.outputs.end());
  if (made.name.empty()) {
    made.name = module_.fresh_name(tangent.function.name);
    PrimFunc function = tangent.function;
    function.name = made.name;
    module_.set(std::make_shared<const PrimFunc>(std::move(function)));
  }
  // Tensors of the call, their tangents, scalars; where each argument and its tangent are now.
  CallTir whole;
  whole.callee = global_ref(GlobalFunction(module_.prim_func(made.name)), span);
  std::vector<std::int64_t> place(call.args.size(), -1), tangent_place(call.args.size(), -1);
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i].type().as<ScalarType>()) continue;
    place[i] = static_cast<std::int64_t>(whole.args.size());
    whole.args.push_back(call.args[i]);
  }
  for (const std::size_t param : tangent.inputs) {
    const std::size_t argument = layout.argument_of[param];
    tangent_place[argument] = static_cast<std::int64_t>(whole.args.size());
    whole.args.push_back(tangent_of_arg(call.args[argument]));
  }
  for (const Expr& arg : call.args)
    if (arg.type().as<ScalarType>()) whole.args.push_back(arg);
  whole.out_types = call.out_types;
  for (const std::size_t output : result.outputs) whole.out_types.push_back(call.out_types[output]);
  if (!call.inplace_indices.empty()) {
    const auto moved = [&](std::size_t output, const std::vector<std::int64_t>& places) {
      const std::int64_t old = call.inplace_indices[output];
      whole.inplace_indices.push_back(old < 0 ? -1 : places[static_cast<std::size_t>(old)]);
    };
    for (std::size_t i = 0; i < call.out_types.size(); ++i) moved(i, place);
    for (const std::size_t output : result.outputs) moved(output, tangent_place);
  }
  whole.tuple_result = true;
  result.call = call_tir(std::move(whole), span);
  return result;
}

}  // namespace relish

// Calls of surface programs: functions of the module by each of their names, prim_funcs in all forms, and
// functions outside the module.
#include <fmt/format.h>

#include <algorithm>

#include "tests/generate/surface_graph.h"

namespace relish::generate {
namespace {

using Meanings = std::map<std::string, Dim>;

// The callee's dimension as the caller says it.
Dim dim_here(const Dim& dim, const Meanings& meanings) {
  if (std::isdigit(static_cast<unsigned char>(dim.text[0]))) return dim;
  const std::size_t end = dim.text.find(' ');
  const auto found = meanings.find(dim.text.substr(0, end));
  if (found == meanings.end()) return dim;
  const Dim& own = found->second;
  if (end == std::string::npos) return own;
  const std::string rest = dim.text.substr(end);
  const std::int64_t value = rest == " * 2" ? own.value * 2 : own.value + 1;
  if (std::isdigit(static_cast<unsigned char>(own.text[0]))) return {std::to_string(value), value};
  return {own.text + rest, value};
}

Shown type_here(const Shown& type, const Meanings& meanings) {
  Shown result = type;
  for (Dim& dim : result.dims) dim = dim_here(dim, meanings);
  for (Shown& field : result.fields) field = type_here(field, meanings);
  return result;
}

}  // namespace

std::string GraphWriter::global(const std::string& name) {
  if (module_.name.empty()) return name;
  uses_module_ = true;
  return (alias_ ? "cls." : module_.name + ".") + name;
}

void GraphWriter::call_statement(const Place& place) {
  std::vector<const GraphCallee*> choices;
  for (const GraphCallee& callee : module_.graphs) {
    if (callee.pure || (!pure_ && !place.dataflow && !place.nested)) choices.push_back(&callee);
  }
  if (choices.empty()) return operator_statement(place);
  const GraphCallee& callee = *w_.random.pick(choices);
  w_.cover("call of a function");
  Meanings meanings;
  for (const Dim& symbol : callee.symbols) {
    // A bare symbol or a number: the callee must be able to solve it.
    const std::int64_t value = w_.random.between(1, 4);
    const Dim own = scope_.symbols.empty() || w_.random.chance(0.4) ? Dim{std::to_string(value), value}
                                                                    : w_.random.pick(scope_.symbols);
    meanings.emplace(symbol.text, own);
  }
  std::vector<std::string> args;
  for (const Shown& param : callee.params)
    args.push_back(operands_.provide(type_here(param, meanings), place));
  operands_.bind_called(fmt::format("{}({})", global(callee.name), listed(args)),
                        type_here(callee.result, meanings), place);
}

void GraphWriter::call_tir_statement(const Place& place) {
  std::vector<const LoopCallee*> choices;
  for (const LoopCallee& callee : module_.loops) {
    if (callee.returns.empty()) choices.push_back(&callee);
  }
  if (choices.empty()) return operator_statement(place);
  const LoopCallee& callee = *w_.random.pick(choices);
  Meanings meanings;
  std::vector<std::string> args, types;
  std::vector<Shown> results;
  for (std::size_t i = 0; i < callee.params.size(); ++i) {
    const LoopCallee::Param& param = callee.params[i];
    for (const Dim& dim : param.dims) {
      const std::string symbol = dim.text.substr(0, dim.text.find(' '));
      if (std::isdigit(static_cast<unsigned char>(symbol[0])) || meanings.contains(symbol)) continue;
      const std::int64_t value = w_.random.between(1, 4);
      const Dim own = scope_.symbols.empty() || w_.random.chance(0.4) ? Dim{std::to_string(value), value}
                                                                      : w_.random.pick(scope_.symbols);
      meanings.emplace(symbol, own);
    }
    Shown type{
        .kind = param.buffer ? Shown::Tensor : Shown::Scalar, .dtype = param.dtype, .dims = param.dims};
    type = type_here(type, meanings);
    if (i < callee.inputs) {
      if (!param.buffer) w_.cover("scalar argument of call_tir");
      args.push_back(operands_.provide(type, place));
    }
    if (i >= callee.inputs || callee.in_place) {
      results.push_back(type);
      types.push_back(type_text(w_, type, false));
    }
  }
  const char* keyword = w_.spelled_so() ? "out_ty=" : "out_sinfo=";
  const std::string out = results.size() == 1 ? types[0] : "[" + listed(types) + "]";
  const std::string tuple = args.size() == 1 && !args[0].starts_with("(") && w_.spelled_so(0.3)
                                ? args[0]
                                : "(" + listed(args, true) + ")";
  Shown result = results[0];
  if (results.size() > 1) result = {.kind = Shown::Tuple, .fields = results};
  if (callee.in_place) {
    w_.cover("call_tir_inplace");
    operands_.bind(scope_.fresh(),
                   fmt::format("R.call_tir_inplace({}, {}, inplace_indices=[0], {}{})", global(callee.name),
                               tuple, keyword, out),
                   result, place);
    return;
  }
  w_.cover(results.size() > 1 ? "call_tir with several results" : "call_tir");
  if (w_.random.chance(0.15)) {
    w_.cover("call_tir_with_grad");
    operands_.bind(scope_.fresh(),
                   fmt::format("R.call_tir_with_grad({}, {}, {}{}, te_grad_name=\"g\")", global(callee.name),
                               tuple, keyword, out),
                   result, place);
    return;
  }
  operands_.bind(scope_.fresh(),
                 fmt::format("R.call_tir({}, {}, {}{})", global(callee.name), tuple,
                             w_.spelled_so(0.3) ? "" : keyword, out),
                 result, place);
}

// Destinations as arguments, in an impure function; or a function that returns a scalar.
void GraphWriter::direct_call_statement(const Place& place) {
  if (pure_ || place.nested || module_.loops.empty()) return operator_statement(place);
  const LoopCallee& callee = w_.random.pick(module_.loops);
  Meanings meanings;
  std::vector<std::string> args;
  for (std::size_t i = 0; i < callee.params.size(); ++i) {
    const LoopCallee::Param& param = callee.params[i];
    for (const Dim& dim : param.dims) {
      const std::string symbol = dim.text.substr(0, dim.text.find(' '));
      if (!std::isdigit(static_cast<unsigned char>(symbol[0]))) meanings.try_emplace(symbol, Dim{"2", 2});
    }
    Shown type{
        .kind = param.buffer ? Shown::Tensor : Shown::Scalar, .dtype = param.dtype, .dims = param.dims};
    type = type_here(type, meanings);
    if (i < callee.inputs && !callee.in_place) {
      args.push_back(operands_.provide(type, place));
      continue;
    }
    const std::string destination = scope_.fresh();
    operands_.bind(destination, fmt::format("R.zeros({}, \"{}\")", shape_text(w_, type.dims), type.dtype),
                   type, place);
    args.push_back(destination);
  }
  const std::string call = fmt::format("{}({})", global(callee.name), listed(args));
  if (!callee.returns.empty()) {
    w_.cover("scalar of a prim_func");
    operands_.bind(scope_.fresh(), call, {.kind = Shown::Scalar, .dtype = callee.returns}, place);
    return;
  }
  w_.cover("direct call of a prim_func");
  w_.line(w_.random.chance(0.7) ? call : "_ = " + call);
}

// Functions outside the module: read and printed, never run here.
void GraphWriter::packed_statement(const Place& place) {
  if (!loose() || runs()) return operator_statement(place);
  const auto x = scope_.some(Shown::Tensor);
  if (!x) return operator_statement(place);
  const Shown type = scope_.tensor_shown();
  const char* types = w_.spelled_so() ? "ty_args=" : "sinfo_args=";
  const char* out = w_.spelled_so() ? "out_ty=" : "out_sinfo=";
  const bool impure = !pure_ && !place.nested;
  switch (w_.random.below(impure ? 7 : 3)) {
    case 0:
      w_.cover("call_dps_packed");
      operands_.bind(
          scope_.fresh(),
          fmt::format("R.call_dps_packed(\"lib.f\", ({},), {}{})", x->name, out, type_text(w_, type, false)),
          type, place);
      break;
    case 1:
      w_.cover("call_pure_packed");
      operands_.bind(
          scope_.fresh(),
          fmt::format("R.call_pure_packed(\"lib.g\", {}, {}{})", x->name, types, type_text(w_, type, false)),
          type, place);
      break;
    case 2: {
      w_.cover("string value");
      const std::string name = scope_.fresh();
      w_.line(name + (w_.random.chance(0.5) ? " = R.str(\"a \\\"text\\\"\")" : " = R.dtype(\"float16\")"));
      break;
    }
    case 3:
      w_.cover("call_packed");
      operands_.bind(
          scope_.fresh(),
          fmt::format("R.call_packed(\"vm.copy\", {}, {}{})", x->name, types, type_text(w_, type, false)),
          type, place);
      break;
    case 4:
      w_.cover("call_inplace_packed");
      operands_.bind(scope_.fresh(),
                     fmt::format("R.call_inplace_packed(\"lib.h\", {}, inplace_indices=[0], {}{})", x->name,
                                 types, type_text(w_, x->type, false)),
                     x->type, place);
      break;
    case 5:
      w_.cover("void call");
      w_.line(fmt::format("{}R.call_packed(\"lib.log\", {}, {}R.Tuple())",
                          w_.random.chance(0.5) ? "_ = " : "", x->name, types));
      break;
    default:
      if (module_.externs.empty()) break;
      w_.cover("extern function of the module");
      operands_.bind(scope_.fresh(),
                     fmt::format("R.call_packed({}, {}, {}{})", global(module_.externs[0]), x->name, types,
                                 type_text(w_, type, false)),
                     type, place);
  }
}

}  // namespace relish::generate

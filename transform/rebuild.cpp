// Shared steps of the passes that rebuild functions.
#include "transform/rebuild.h"

#include <fmt/format.h>

#include <unordered_set>

#include "ir/scalars/symbols.h"
#include "support/failure.h"
#include "support/interrupt.h"
#include "support/suggest.h"
#include "transform/dead_code.h"

namespace relish {

FunctionPtr relax_function(const Module& module, std::string_view name) {
  if (FunctionPtr function = module.function(name)) return function;
  if (PrimFuncPtr prim = module.prim_func(name)) {
    std::vector<DiagnosticNote> ways = {
        {{},
         fmt::format(
             "an R.function can call it: y = R.call_tir(cls.{}, (…), R.Tensor(…)); losses and gradients "
             "go through that call",
             name)}};
    fail(ErrorClass::Usage, prim->span, "function.kind",
         fmt::format("'{}' is a prim_func; expected a Relax function", name), std::move(ways));
  }
  fail(ErrorClass::Usage, {}, "function.unknown",
       fmt::format("no function '{}' in module {}{}", name, module.name, did_you_mean(name, module.names())));
}

namespace {

std::vector<ScalarVar> sizes_of(const Type& type) {
  std::vector<ScalarVar> all, sizes;
  collect_vars(type, all);
  std::unordered_set<std::uint64_t> seen;
  for (const ScalarVar& size : all)
    if (seen.insert(size.id()).second) sizes.push_back(size);
  return sizes;
}

}  // namespace

bool same_signature(const Function& a, const Function& b) {
  const Type x(function_type_of(a)), y(function_type_of(b));
  const std::vector<ScalarVar> sizes_x = sizes_of(x), sizes_y = sizes_of(y);
  if (sizes_x.size() != sizes_y.size()) return false;
  ScalarMap renamed;
  for (std::size_t i = 0; i < sizes_x.size(); ++i) renamed.emplace(sizes_x[i].id(), Scalar(sizes_y[i]));
  return same_type(substitute(x, renamed), y);
}

void check_replaces(const Module& module, const Function& function) {
  if (PrimFuncPtr prim = module.prim_func(function.name)) {
    fail(ErrorClass::Usage, prim->span, "function.kind",
         fmt::format("'{}' is a prim_func; a made function cannot take its name", function.name));
  }
  FunctionPtr old = module.function(function.name);
  if (!old || same_signature(*old, function)) return;
  for (const GlobalFunction& candidate : module.functions) {
    const auto* caller = std::get_if<FunctionPtr>(&candidate);
    if (!caller || (*caller)->name == function.name) continue;
    const std::vector<std::string> called = global_references(**caller);
    if (std::find(called.begin(), called.end(), function.name) == called.end()) continue;
    fail(ErrorClass::Type, (*caller)->span, "function.callers",
         fmt::format("'{}' calls '{}', whose new form takes or returns other types", (*caller)->name,
                     function.name),
         {{old->span, "its present form is here"}});
  }
}

Binding copy_binding(const Binding& binding, VarMap& vars, const ScalarMap& scalars) {
  poll_interrupt(binding.span);
  Binding copy = binding;
  const Var& old = binding.var();
  const Var fresh(old.name(), substitute(old.type(), scalars), old.dataflow(), old.span());
  // A nested function may call itself by the variable bound to it.
  if (binding.value().as<FunctionExpr>()) vars.insert_or_assign(old.id(), Expr(fresh));
  if (const auto* plain = std::get_if<VarBinding>(&binding.kind)) {
    copy.kind = VarBinding{fresh, substitute(plain->value, vars, scalars)};
  } else {
    const auto& match = std::get<MatchCast>(binding.kind);
    copy.kind = MatchCast{fresh, substitute(match.value, vars, scalars), substitute(match.type, scalars)};
  }
  vars.insert_or_assign(old.id(), Expr(fresh));
  return copy;
}

void reserve_names(const Function& function, FunctionBuilder& builder) {
  for (const Var& param : function.params) builder.reserve_name(param.name());
  for_each_binding(function, [&](const Binding& binding) { builder.reserve_name(binding.var().name()); });
  for_each_symbol(function, [&](const ScalarVar& symbol) { builder.reserve_name(symbol.name()); });
}

void collect_leaf_vars(const Expr& expr, std::vector<Var>& into) {
  if (const Var* var = expr.as_var())
    into.push_back(*var);
  else if (const auto* t = expr.as<TupleExpr>())
    for (const Expr& field : t->fields) collect_leaf_vars(field, into);
}

std::vector<Var> used_vars(const Expr& value) {
  poll_interrupt(value.span());
  std::vector<Var> vars;
  for_each_expr(value, [&](const Expr& expr) {
    if (const Var* var = expr.as_var()) vars.push_back(*var);
  });
  return vars;
}

void close_function(Function& function, std::vector<Binding> bindings, const Expr& result,
                    const VarNames& names) {
  std::vector<Var> outputs;
  collect_leaf_vars(result, outputs);
  std::unordered_set<std::uint64_t> output_ids;
  for (const Var& var : outputs) output_ids.insert(var.id());

  VarMap vars;
  BindingBlock block;
  block.dataflow = true;
  for (const Binding& binding : bindings) {
    const Expr& value = binding.value();
    const bool effects = has_effects(value);
    function.pure = function.pure && !effects;
    block.dataflow = block.dataflow && !effects && !value.as<If>() && !value.as<Loop>();
  }
  block.span = function.span;
  for (Binding& binding : bindings) {
    poll_interrupt(binding.span);
    const Var old = binding.var();
    const bool dataflow = block.dataflow && !output_ids.contains(old.id());
    const auto renamed = names.find(old.id());
    const Var fresh(renamed == names.end() ? old.name() : renamed->second, old.type(), dataflow, old.span());
    if (const auto* plain = std::get_if<VarBinding>(&binding.kind)) {
      binding.kind = VarBinding{fresh, substitute(plain->value, vars)};
    } else {
      const auto& match = std::get<MatchCast>(binding.kind);
      binding.kind = MatchCast{fresh, substitute(match.value, vars), match.type};
    }
    vars.insert_or_assign(old.id(), Expr(fresh));
    block.bindings.push_back(std::move(binding));
  }
  function.blocks.clear();
  if (!block.bindings.empty()) function.blocks.push_back(std::move(block));
  function.result = substitute(result, vars);
  function.result_type = function.result.type();
  function = *eliminate_dead_bindings(std::make_shared<const Function>(std::move(function)));
}

Expr constant_of(DType dtype, double value) { return constant(Tensor::scalar(dtype, value)); }

}  // namespace relish

// What hangs on what, through regions.
#include "transform/gradient/job.h"

#include <algorithm>

#include "ir/operators/op.h"
#include "ir/rewriting/regions.h"
#include "transform/gradient/named_bounds.h"
#include "transform/gradient/named_sizes.h"
#include "transform/gradient/plain_calls.h"
#include "transform/gradient/rules.h"
#include "transform/rebuild.h"

namespace relish {

GradientJob::GradientJob(const Module& source, const Function& function, Way direction)
    : way(direction), module(source), user_gradients_(user_gradients(source)) {
  Module forms = source;
  const FunctionPtr known = source.function(function.name);
  if (known.get() != &function) {
    forms.set(std::make_shared<const Function>(function));
    plain_.emplace(function.name, forms.function(function.name));
  }
  PlainFunctions plain = with_plain_calls(forms);
  for (const auto& [name, body] : plain.bodies) plain_.insert_or_assign(name, body);
  for (const FunctionPtr& each : plain.added) {
    lifted_.push_back(each->name);
    module.set(each);
  }
}

FunctionPtr GradientJob::body_of(const Function& function) {
  const auto [place, first] = bodies_.try_emplace(function.name);
  if (!first) return place->second;
  const auto plain = plain_.find(function.name);
  FunctionPtr body = plain == plain_.end() ? module.function(function.name) : plain->second;
  if (!body) body = std::make_shared<const Function>(function);
  body = with_named_sizes(body);
  return place->second = way == Way::Back ? with_named_bounds(body) : body;
}

void GradientJob::leave_out_unused(Module& made) const {
  if (lifted_.empty()) return;
  std::unordered_set<std::string> mentioned;
  std::vector<std::string> pending;
  const auto enter = [&](const Function& function) {
    for (std::string& name : global_references(function))
      if (mentioned.insert(name).second) pending.push_back(std::move(name));
  };
  const std::unordered_set<std::string> lifted(lifted_.begin(), lifted_.end());
  for (const GlobalFunction& global : made.functions)
    if (const auto* function = std::get_if<FunctionPtr>(&global);
        function && !lifted.contains((*function)->name))
      enter(**function);
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (const FunctionPtr function = lifted.contains(name) ? made.function(name) : nullptr) enter(*function);
  }
  for (const std::string& name : lifted_)
    if (!mentioned.contains(name) && made.find(name)) made.remove(name);
}

FunctionPtr GradientJob::user_gradient_of(const std::string& name) const {
  const auto known = user_gradients_.find(name);
  return known == user_gradients_.end() ? nullptr : known->second;
}

FunctionPtr GradientJob::user_gradient_of(const FunctionCall& call) const {
  const auto* global = call.callee.as<GlobalRef>();
  return global ? user_gradient_of(global->name) : nullptr;
}

std::optional<GradientJob::Written> GradientJob::written_for(const Expr& value) const {
  if (user_gradients_.empty()) return std::nullopt;
  Written written;
  if (const auto* call = value.as<FunctionCall>()) {
    written = {user_gradient_of(*call), call->args};
  } else if (const auto* prim = value.as<CallTir>()) {
    const std::string& name = prim->callee.as<GlobalRef>()->name;
    written.gradient = user_gradient_of(name);
    if (written.gradient) written.inputs = inputs_in_order(*module.prim_func(name), *prim, value.span());
  } else if (const auto* op = value.as<OpCall>()) {
    written = {user_gradient_of("R." + std::string(op->op->name)), op->args};
  } else if (const auto* native = value.as<PackedCall>(); native && native->form == PackedForm::Dps) {
    const auto* symbol = native->callee.as<ExternFunc>();
    const auto* global = native->callee.as<GlobalRef>();
    const ExternFunctionPtr named = global ? module.extern_function(global->name) : nullptr;
    if (symbol) written = {user_gradient_of(symbol->symbol), native->args};
    if (named) written = {user_gradient_of(named->symbol), native->args};
  }
  return written.gradient ? std::optional(std::move(written)) : std::nullopt;
}

bool GradientJob::is_scalar_param(const ScalarVar& symbol) const {
  return std::any_of(scalar_params.begin(), scalar_params.end(),
                     [&](const auto& param) { return param.second == symbol; });
}

bool GradientJob::reaches(const Expr& leaf) const {
  std::vector<Var> vars;
  collect_leaf_vars(leaf, vars);
  return std::any_of(vars.begin(), vars.end(), [&](const Var& var) { return varied.contains(var.id()); });
}

void GradientJob::vary(const std::vector<Binding>& bindings) {
  for (const Binding& binding : bindings) vary(binding);
}

void GradientJob::vary(const Binding& binding) {
  const Expr& value = binding.value();
  bool moves = false;
  const auto region = [&](const Region& each) {
    vary(all_bindings(each.blocks));
    return std::any_of(each.results.begin(), each.results.end(),
                       [&](const Expr& result) { return reaches(result); });
  };
  if (const auto* branch = value.as<If>()) {
    const bool first = region(*branch->then_region), second = region(*branch->else_region);
    moves = first || second;
  } else if (const auto* loop = value.as<Loop>()) {
    const Region& body = *loop->body;
    // Each round adds at least one of what is carried.
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = 0; i < body.params.size(); ++i) {
        if (!reaches(loop->initial[i]) && !reaches(body.results[i])) continue;
        grows = varied.insert(body.params[i].id()).second || grows;
        moves = true;
      }
      if (region(body)) moves = true;
      for (std::size_t i = 0; i < body.params.size(); ++i)
        grows = grows || (reaches(body.results[i]) && !varied.contains(body.params[i].id()));
    }
  } else {
    const std::vector<Var> used = used_vars(value);
    moves = std::any_of(used.begin(), used.end(), [&](const Var& var) { return varied.contains(var.id()); });
  }
  if (moves) varied.insert(binding.var().id());
}

}  // namespace relish

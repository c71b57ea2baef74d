// Copies of bindings, on demand.
#include "transform/gradient/recomputation.h"

#include <algorithm>
#include <unordered_map>

#include "ir/operators/value_marks.h"
#include "ir/rewriting/rewrite.h"
#include "transform/gradient/copies.h"
#include "transform/outer_vars.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

class Recomputation {
 public:
  Recomputation(const std::vector<Binding>& ahead, const ValueIds& again, FunctionBuilder& names)
      : names_(names) {
    for (const Binding& binding : ahead) {
      if (!again.contains(binding.var().id())) continue;
      made_by_.emplace(binding.var().id(), &binding);
      const auto* field = binding.value().as<TupleGet>();
      if (const Var* whole = field ? field->tuple.as_var() : nullptr)
        fields_[whole->id()].push_back(&binding);
    }
  }

  void append(const Binding& binding) {
    make_all(binding.value());
    names_.set_origin(binding.span);
    names_.append(substitute(binding, copies_));
  }

 private:
  bool is_missing(std::uint64_t id) const { return made_by_.contains(id) && !copies_.contains(id); }

  // Copies of what the value uses, each behind those of what it is made of. By a list of its own: chains of
  // values are long.
  void make_all(const Expr& value) {
    std::vector<const Binding*> open;
    const auto enter = [&](const Expr& user) {
      for (const Var& used : outer_vars(user))
        if (is_missing(used.id())) open.push_back(made_by_.at(used.id()));
    };
    enter(value);
    while (!open.empty()) {
      const Binding* last = open.back();
      const std::size_t before = open.size();
      if (is_missing(last->var().id())) enter(last->value());
      if (open.size() > before) continue;
      open.pop_back();
      if (is_missing(last->var().id())) copy(*last);
    }
  }

  void copy(const Binding& binding) {
    names_.set_origin(binding.span);
    const Expr& value = binding.value();
    VarMap operands;
    for (const Var& used : outer_vars(value)) {
      const auto copied = copies_.find(used.id());
      if (copied != copies_.end())
        operands.emplace(used.id(), copied->second);
      else if (used.type().tensor() && !only_names(binding))
        operands.emplace(used.id(), behind_barrier(used));
    }
    if (!value.as<If>() && !value.as<Loop>()) {
      const Var made = names_.bind(substitute(value, operands), binding.var().name() + "_cp");
      copies_.emplace(binding.var().id(), Expr(made));
      return;
    }
    BindingBlock block;
    block.bindings.push_back(binding);
    for (const Binding& each : fresh_bindings({block}, names_, operands)) names_.append(each);
    copies_.emplace(binding.var().id(), operands.at(binding.var().id()));
    // What it gives is taken apart behind it, all of it, as reading has it.
    for (const Binding* field : fields_[binding.var().id()])
      if (is_missing(field->var().id())) copy(*field);
  }

  Expr behind_barrier(const Var& var) {
    const auto [place, first] = barriers_.try_emplace(var.id());
    if (first) place->second = names_.call(barrier_name, {Expr(var)}, {}, var.name() + "_kept");
    return place->second;
  }

  FunctionBuilder& names_;
  std::unordered_map<std::uint64_t, const Binding*> made_by_;              // of what is computed again
  std::unordered_map<std::uint64_t, std::vector<const Binding*>> fields_;  // of a tuple that is among them
  VarMap copies_, barriers_;
};

}  // namespace

bool only_names(const Binding& binding) {
  const Expr& value = binding.value();
  return std::holds_alternative<VarBinding>(binding.kind) &&
         (value.as_var() || value.as<TupleExpr>() || value.as<TupleGet>() || marked_tensor(value));
}

ValueIds values_to_compute_again(const std::vector<Binding>& ahead, const ValueIds& wanted) {
  ValueIds result;
  if (wanted.empty()) return result;
  for (const Binding& binding : ahead) {
    const Expr& value = binding.value();
    const bool plain = std::holds_alternative<VarBinding>(binding.kind);
    const bool names = only_names(binding);
    if (!plain || (!names && !wanted.contains(binding.var().id()))) continue;
    if (has_effects(value) || value.as<FunctionExpr>()) continue;
    const std::vector<Var> used = outer_vars(value);
    const bool made_of_these = std::any_of(used.begin(), used.end(), [&](const Var& var) {
      return result.contains(var.id()) || (!names && var.type().tensor());
    });
    if (made_of_these) result.insert(binding.var().id());
  }
  return result;
}

std::vector<Binding> computed_again(const std::vector<Binding>& ahead, const std::vector<Binding>& back,
                                    const ValueIds& again, const std::vector<Expr>& results,
                                    FunctionBuilder& names) {
  ValueIds live;
  const auto need = [&](const std::vector<Var>& vars) {
    for (const Var& var : vars) live.insert(var.id());
  };
  for (const Expr& result : results) need(used_vars(result));
  ValueIds taken_apart;  // ifs and loops: what they give is taken apart behind them, all of it
  for (auto it = back.rbegin(); it != back.rend(); ++it) {
    const bool effects = has_effects(it->value()) || std::holds_alternative<MatchCast>(it->kind);
    if (!effects && !live.contains(it->var().id())) continue;
    live.insert(it->var().id());
    if (it->value().as<If>() || it->value().as<Loop>()) taken_apart.insert(it->var().id());
    need(used_vars(it->value()));
  }
  std::vector<const Binding*> kept;
  for (auto it = back.rbegin(); it != back.rend(); ++it) {
    const auto* field = it->value().as<TupleGet>();
    const Var* whole = field ? field->tuple.as_var() : nullptr;
    if (live.contains(it->var().id()) || (whole && taken_apart.contains(whole->id()))) kept.push_back(&*it);
  }
  names.begin_block(false);
  Recomputation recomputation(ahead, again, names);
  for (auto it = kept.rbegin(); it != kept.rend(); ++it) recomputation.append(**it);
  names.end_block();
  return names.take_bindings();
}

}  // namespace relish

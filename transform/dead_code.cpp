// Liveness over the bindings of each function, then reachability over the functions of the module. What an if
// or a loop gives is looked at result by result: a result that nobody takes goes, with what only it needed.
#include "transform/dead_code.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/calls/foreign_calls.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/region_aliases.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "support/interrupt.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// Results of an if, or carried variables of a loop; nothing of any other value.
std::optional<std::size_t> result_count(const Expr& value) {
  if (const auto* branch = value.as<If>()) return branch->then_region->results.size();
  if (const auto* loop = value.as<Loop>()) return loop->initial.size();
  return std::nullopt;
}

// Which values need which others. A node is a variable, one result of an if or a loop, or that an if, a loop
// or a nested function takes place at all; what is reached from the effects and the result is live. Each node
// and each need is looked at once.
class LiveValues {
 public:
  explicit LiveValues(const Function& function) {
    constexpr std::size_t root = 0;
    needs_.emplace_back();
    visit_blocks(function.blocks, root, root);
    need_leaves(root, function.result);
    std::vector<std::size_t> pending{root};
    live_.assign(needs_.size(), false);
    live_[root] = true;
    while (!pending.empty()) {
      const std::size_t node = pending.back();
      pending.pop_back();
      for (const std::size_t needed : needs_[node]) {
        if (live_[needed]) continue;
        live_[needed] = true;
        pending.push_back(needed);
      }
    }
  }

  bool var(const Var& var) const {
    const auto found = nodes_.find(var.id());
    return found != nodes_.end() && live_[found->second];
  }
  // Whether it takes a result of an if or a loop that is live: a loop may carry what only itself needs, and
  // the taker is what gives that its name.
  bool takes_live_field(const Binding& binding) const {
    const auto* field =
        std::holds_alternative<VarBinding>(binding.kind) ? binding.value().as<TupleGet>() : nullptr;
    const Var* whole = field ? field->tuple.as_var() : nullptr;
    const auto fields = whole ? fields_.find(whole->id()) : fields_.end();
    return fields != fields_.end() && live_[fields->second + static_cast<std::size_t>(field->index)];
  }
  // Of the if or loop that is bound to `var`.
  bool takes_place(const Var& var) const { return live_[parts_.at(var.id())]; }
  bool result(const Var& var, std::size_t index) const { return live_[parts_.at(var.id()) + 1 + index]; }
  // The variable that was made of this result directly behind it; null when none was.
  const Var* name_of_result(const Var& var, std::size_t index) const {
    const auto found = names_.find(parts_.at(var.id()) + 1 + index);
    return found == names_.end() ? nullptr : &found->second;
  }

 private:
  std::size_t add_node() {
    needs_.emplace_back();
    return needs_.size() - 1;
  }

  std::size_t node_of(const Var& var) {
    const auto [found, added] = nodes_.emplace(var.id(), needs_.size());
    if (added) needs_.emplace_back();
    return found->second;
  }

  void need(std::size_t node, std::size_t needed) { needs_[node].push_back(needed); }

  void need_leaves(std::size_t node, const Expr& leaf) {
    std::vector<Var> vars;
    collect_leaf_vars(leaf, vars);
    for (const Var& var : vars) need(node, node_of(var));
  }

  // `place`: that the blocks are evaluated at all; `effects`: what needs their effects.
  void visit_blocks(const std::vector<BindingBlock>& blocks, std::size_t place, std::size_t effects) {
    for (const BindingBlock& block : blocks) {
      taken_apart_ = nullptr;
      for (const Binding& binding : block.bindings) {
        poll_interrupt(binding.span);
        visit_binding(binding, place, effects);
      }
    }
  }

  void visit_binding(const Binding& binding, std::size_t place, std::size_t effects) {
    const Expr& value = binding.value();
    const std::size_t node = node_of(binding.var());
    if (result_count(value)) {
      if (const auto* branch = value.as<If>())
        visit_if(binding.var(), *branch, place, effects);
      else
        visit_loop(binding.var(), *value.as<Loop>(), place, effects);
      taken_apart_ = &binding.var();
      return;
    }
    note_field(binding);
    need(node, place);
    if (const auto* nested = value.as<FunctionExpr>()) {
      // Its effects are those of its calls; who has the function needs them.
      visit_blocks(nested->function->blocks, node, node);
      need_leaves(node, nested->function->result);
      return;
    }
    // A match_cast checks and binds sizes: it has an effect.
    if (std::holds_alternative<MatchCast>(binding.kind) || has_effects(value)) need(effects, node);
    if (const auto* field = value.as<TupleGet>()) {
      const Var* whole = field->tuple.as_var();
      const auto fields = whole ? fields_.find(whole->id()) : fields_.end();
      if (fields != fields_.end()) return need(node, fields->second + static_cast<std::size_t>(field->index));
    }
    for (const Var& used : used_vars(value)) need(node, node_of(used));
  }

  // Directly behind an if or a loop its results are taken apart: the first variable of each.
  void note_field(const Binding& binding) {
    const auto* bound = std::get_if<VarBinding>(&binding.kind);
    const auto* field = bound ? bound->value.as<TupleGet>() : nullptr;
    const Var* whole = field ? field->tuple.as_var() : nullptr;
    if (!taken_apart_ || !whole || !(*whole == *taken_apart_))
      taken_apart_ = nullptr;
    else
      names_.try_emplace(parts_.at(whole->id()) + 1 + static_cast<std::size_t>(field->index), bound->var);
  }

  // The node that says that it takes place, then one for each result. Returns the first.
  std::size_t add_parts(const Var& var, std::size_t count, std::size_t place) {
    const std::size_t first = add_node();
    const std::size_t whole = node_of(var);
    need(first, place);
    need(whole, first);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t part = add_node();
      need(part, first);
      need(whole, part);
    }
    parts_.emplace(var.id(), first);
    // Of one result the value is that result, not a tuple of it.
    if (count != 1) fields_.emplace(var.id(), first + 1);
    return first;
  }

  void visit_if(const Var& var, const If& branch, std::size_t place, std::size_t effects) {
    const std::size_t first = add_parts(var, branch.then_region->results.size(), place);
    need_leaves(first, branch.condition);
    for (const RegionPtr& region : {branch.then_region, branch.else_region}) {
      visit_blocks(region->blocks, first, effects);
      for (std::size_t i = 0; i < region->results.size(); ++i) need_leaves(first + 1 + i, region->results[i]);
    }
  }

  void visit_loop(const Var& var, const Loop& loop, std::size_t place, std::size_t effects) {
    const std::size_t first = add_parts(var, loop.initial.size(), place);
    for (const Expr* bound : {&loop.begin, &loop.end, &loop.step})
      if (bound->defined()) need_leaves(first, *bound);
    for (std::size_t i = 0; i < loop.initial.size(); ++i) {
      nodes_[loop.body->params[i].id()] = first + 1 + i;
      if (loop.condition) nodes_[loop.condition->params[i].id()] = first + 1 + i;
      need_leaves(first + 1 + i, loop.initial[i]);
      need_leaves(first + 1 + i, loop.body->results[i]);
    }
    if (loop.condition) {
      visit_blocks(loop.condition->blocks, first, effects);
      need_leaves(first, loop.condition->results[0]);
    }
    visit_blocks(loop.body->blocks, first, effects);
  }

  std::vector<std::vector<std::size_t>> needs_;
  std::vector<bool> live_;
  std::unordered_map<std::uint64_t, std::size_t> nodes_;
  std::unordered_map<std::uint64_t, std::size_t> parts_;   // of ifs and loops: the node before their results
  std::unordered_map<std::uint64_t, std::size_t> fields_;  // of those that give a tuple: the first result
  std::unordered_map<std::size_t, Var> names_;             // by the node of a result
  const Var* taken_apart_ = nullptr;                       // the if or loop whose fields may follow now
};

// The function without what is not live.
class Sweeper final : public ExprMapper {
 public:
  explicit Sweeper(const Function& function) : live_(function) {}

 private:
  struct Kept {
    Var var;
    std::vector<std::size_t> results;  // the old numbers
  };

  void map_binding(const Binding& binding, bool, std::vector<Binding>& into) override {
    const Expr& value = binding.value();
    if (result_count(value)) {
      if (live_.takes_place(binding.var())) into.push_back(with_live_results(binding));
    } else if ((live_.var(binding.var()) || live_.takes_live_field(binding)) &&
               !taken_over_.contains(binding.var().id())) {
      into.push_back(value.as<FunctionExpr>() ? map(binding) : with_kept_field(binding));
    }
  }

  // A field of what has fewer results now.
  Binding with_kept_field(Binding binding) {
    auto* plain = std::get_if<VarBinding>(&binding.kind);
    const auto* field = plain ? plain->value.as<TupleGet>() : nullptr;
    const Var* whole = field ? field->tuple.as_var() : nullptr;
    const auto found = whole ? kept_.find(whole->id()) : kept_.end();
    if (found == kept_.end()) return binding;
    const Kept& kept = found->second;
    const Expr value = var_ref(kept.var, plain->value.span());
    if (kept.results.size() == 1) {
      plain->value = value;
      return binding;
    }
    const auto at =
        std::find(kept.results.begin(), kept.results.end(), static_cast<std::size_t>(field->index));
    RELISH_CHECK(at != kept.results.end());
    plain->value = tuple_get(value, static_cast<int>(at - kept.results.begin()), plain->value.span());
    return binding;
  }

  // An if or a loop with the results that are live.
  Binding with_live_results(Binding binding) {
    auto& plain = std::get<VarBinding>(binding.kind);
    const std::size_t count = *result_count(plain.value);
    std::vector<std::size_t> results;
    for (std::size_t i = 0; i < count; ++i)
      if (live_.result(plain.var, i)) results.push_back(i);
    bool changed = results.size() != count;
    const Expr value = with_results(plain.value, results, changed);
    if (changed) plain.value = value;
    if (results.size() != count) {
      const Var old = plain.var;
      plain.var = var_of(old, value.type(), results);
      if (!results.empty()) kept_.emplace(old.id(), Kept{plain.var, std::move(results)});
    }
    return binding;
  }

  // The variable that holds what is left: of one result the one that had been made of its field.
  Var var_of(const Var& old, const Type& type, const std::vector<std::size_t>& results) {
    if (results.empty()) return Var("_", type, old.dataflow(), old.span());
    const Var* own = results.size() == 1 ? live_.name_of_result(old, results[0]) : nullptr;
    if (!own) return Var(old.name(), type, old.dataflow(), old.span());
    taken_over_.insert(own->id());
    return *own;
  }

  template <class T>
  static std::vector<T> chosen(const std::vector<T>& from, const std::vector<std::size_t>& which) {
    std::vector<T> result;
    for (const std::size_t i : which) result.push_back(from[i]);
    return result;
  }

  // `changed` becomes true when a region changes.
  Expr with_results(const Expr& value, const std::vector<std::size_t>& results, bool& changed) {
    const auto swept = [&](const Region& region, RegionRole role) {
      Region copy = region;
      if (!copy.params.empty()) copy.params = chosen(copy.params, results);
      changed = map_blocks(copy.blocks) || changed;
      if (role != RegionRole::Condition) {
        copy.results = chosen(copy.results, results);
        // Behind what goes there may have stood a name for a result, which reading leaves out at a region's
        // end.
        if (changed) drop_aliases(copy);
      }
      return copy;
    };
    if (const auto* branch = value.as<If>()) return with_regions(*branch, swept, value.span());
    Loop loop = *value.as<Loop>();
    loop.initial = chosen(loop.initial, results);
    return with_regions(std::move(loop), swept, value.span());
  }

  const LiveValues live_;
  std::unordered_map<std::uint64_t, Kept> kept_;  // by the variable that held all results
  std::unordered_set<std::uint64_t> taken_over_;  // fields whose variable has become that of the result
};

}  // namespace

FunctionPtr eliminate_dead_bindings(const FunctionPtr& function) { return Sweeper(*function).map(function); }

Module eliminate_dead_code(const Module& module) {
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    if (const auto* function = std::get_if<FunctionPtr>(&result.functions[i]))
      result.functions.replace(i, eliminate_dead_bindings(*function));
  }
  std::unordered_set<std::string> reached;
  std::vector<std::string> pending;
  const auto reach = [&](const std::string& name) {
    if (reached.insert(name).second) pending.push_back(name);
  };
  for (const GlobalFunction& global : result.functions) {
    const auto* function = std::get_if<FunctionPtr>(&global);
    const auto* prim = std::get_if<PrimFuncPtr>(&global);
    const bool is_public = (function && !(*function)->is_private) || (prim && !(*prim)->is_private);
    if (is_public) reach(name_of(global));
  }
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (FunctionPtr function = result.function(name))
      for (const std::string& callee : global_references(*function)) reach(callee);
    if (PrimFuncPtr prim = result.prim_func(name))
      for (const std::string& callee : called_prim_funcs(*prim)) reach(callee);
  }
  result.functions.remove_if(
      [&](const GlobalFunction& global) { return !reached.contains(name_of(global)); });
  verify_after(result, "dce");
  return result;
}

}  // namespace relish

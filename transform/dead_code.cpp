// Liveness backwards over the bindings of each function, then reachability over the functions of the module.
#include "transform/dead_code.h"

#include <unordered_set>

#include "ir/foreign_calls.h"
#include "transform/rebuild.h"

namespace relish {

Function eliminate_dead_bindings(const Function& function) {
  std::unordered_set<std::uint64_t> live;
  std::vector<Var> used;
  collect_leaf_vars(function.result, used);
  for (const Var& var : used) live.insert(var.id());

  Function result = function;
  bool changed = false;
  for (auto block = result.blocks.rbegin(); block != result.blocks.rend(); ++block) {
    std::vector<Binding> kept;
    for (auto binding = block->bindings.rbegin(); binding != block->bindings.rend(); ++binding) {
      // A match_cast checks and binds sizes: it has an effect.
      const bool effect = std::holds_alternative<MatchCast>(binding->kind) || has_effects(binding->value());
      if (!effect && !live.contains(binding->var().id())) {
        changed = true;
        continue;
      }
      for (const Var& var : used_vars(binding->value())) live.insert(var.id());
      kept.push_back(*binding);
    }
    block->bindings.assign(kept.rbegin(), kept.rend());
  }
  std::erase_if(result.blocks, [](const BindingBlock& block) { return block.bindings.empty(); });
  return changed ? result : function;
}

Module eliminate_dead_code(const Module& module) {
  Module result = module;
  for (GlobalFunction& global : result.functions) {
    if (const auto* function = std::get_if<FunctionPtr>(&global))
      global = std::make_shared<const Function>(eliminate_dead_bindings(**function));
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
  std::erase_if(result.functions,
                [&](const GlobalFunction& global) { return !reached.contains(name_of(global)); });
  return result;
}

}  // namespace relish

// What each binding of a block needs of the others, then an order by depth or by breadth.
#include "transform/topological_sort.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/regions.h"
#include "ir/verify/verify.h"
#include "transform/mentioned_symbols.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

using Needs = std::vector<std::vector<std::size_t>>;  // by binding, in the order in which it uses them

// Behind a match_cast that speaks of a size stands all that speaks of it: the cast may bind it.
Needs needs_of(const std::vector<Binding>& bindings) {
  Needs needs(bindings.size());
  std::unordered_map<std::uint64_t, std::size_t> made_by, bound_by;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    for (const Var& var : used_vars(bindings[i].value())) {
      const auto maker = made_by.find(var.id());
      if (maker != made_by.end()) needs[i].push_back(maker->second);
    }
    const bool casts = std::holds_alternative<MatchCast>(bindings[i].kind);
    if (casts || !bound_by.empty()) {
      const SymbolList mentioned = mentioned_symbols(bindings[i]);
      for (const ScalarVar& symbol : mentioned.vars()) {
        if (const auto cast = bound_by.find(symbol.id()); cast != bound_by.end())
          needs[i].push_back(cast->second);
        if (casts) bound_by.insert_or_assign(symbol.id(), i);
      }
    }
    made_by.emplace(bindings[i].var().id(), i);
  }
  return needs;
}

std::vector<std::size_t> by_depth(const std::vector<Binding>& bindings, const Needs& needs) {
  std::vector<std::size_t> order, at(bindings.size(), 0), open;
  std::vector<bool> entered(bindings.size(), false);
  const auto enter = [&](std::size_t first) {
    if (entered[first]) return;
    entered[first] = true;
    open.push_back(first);
    while (!open.empty()) {
      const std::size_t last = open.back();
      if (at[last] < needs[last].size()) {
        const std::size_t needed = needs[last][at[last]++];
        if (entered[needed]) continue;
        entered[needed] = true;
        open.push_back(needed);
      } else {
        order.push_back(last);
        open.pop_back();
      }
    }
  };
  // What the block gives or checks; then what nothing takes.
  for (std::size_t i = 0; i < bindings.size(); ++i)
    if (!bindings[i].var().dataflow() || std::holds_alternative<MatchCast>(bindings[i].kind)) enter(i);
  for (std::size_t i = 0; i < bindings.size(); ++i) enter(i);
  return order;
}

std::vector<std::size_t> by_breadth(const std::vector<Binding>& bindings, const Needs& needs) {
  std::vector<std::size_t> level(bindings.size(), 0), order(bindings.size());
  for (std::size_t i = 0; i < bindings.size(); ++i)
    for (const std::size_t needed : needs[i]) level[i] = std::max(level[i], level[needed] + 1);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return level[a] < level[b]; });
  return order;
}

class BlockSorter final : public ExprMapper {
 public:
  explicit BlockSorter(TopologicalOrder order) : order_(order) {}

  FunctionPtr sorted(const FunctionPtr& function) {
    const FunctionPtr inside = map(function);
    Function copy = *inside;
    return sort(copy.blocks) ? std::make_shared<const Function>(std::move(copy)) : inside;
  }

 private:
  Expr leave(const Expr& mapped) override {
    if (const auto* branch = mapped.as<If>()) {
      Region first = *branch->then_region, second = *branch->else_region;
      const bool changed = sort(first.blocks);
      if (!(sort(second.blocks) || changed)) return mapped;
      return if_expr(branch->condition, std::move(first), std::move(second), mapped.span());
    }
    if (const auto* loop = mapped.as<Loop>()) {
      Region body = *loop->body;
      if (!sort(body.blocks)) return mapped;
      Loop copy = *loop;
      copy.body = std::make_shared<const Region>(std::move(body));
      return loop_expr(std::move(copy), mapped.span());
    }
    const auto* nested = mapped.as<FunctionExpr>();
    if (!nested) return mapped;
    Function copy = *nested->function;
    if (!sort(copy.blocks)) return mapped;
    return function_expr(std::make_shared<const Function>(std::move(copy)), mapped.span());
  }

  bool sort(std::vector<BindingBlock>& blocks) const {
    bool changed = false;
    for (BindingBlock& block : blocks) {
      if (!block.dataflow) continue;
      const Needs needs = needs_of(block.bindings);
      const std::vector<std::size_t> order = order_ == TopologicalOrder::Depth
                                                 ? by_depth(block.bindings, needs)
                                                 : by_breadth(block.bindings, needs);
      if (std::is_sorted(order.begin(), order.end())) continue;
      changed = true;
      std::vector<Binding> sorted;
      for (const std::size_t i : order) sorted.push_back(block.bindings[i]);
      block.bindings = std::move(sorted);
    }
    return changed;
  }

  TopologicalOrder order_;
};

}  // namespace

Module topological_sort(const Module& module, TopologicalOrder order) {
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    const FunctionPtr sorted = BlockSorter(order).sorted(*function);
    if (sorted != *function) result.functions.replace(i, sorted);
  }
  verify_after(result, "topological_sort");
  return result;
}

}  // namespace relish

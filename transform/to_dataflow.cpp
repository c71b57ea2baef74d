// First the plain blocks are cut into runs, then the variables of the new dataflow blocks that nothing takes
// behind them become theirs alone.
#include "transform/to_dataflow.h"

#include <span>

#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/regions.h"
#include "ir/verify/verify.h"
#include "transform/block_outputs.h"

namespace relish {
namespace {

// A single binding gains nothing by a block of its own.
constexpr std::size_t least_bindings = 2;

bool may_stand_in_dataflow(const Binding& binding) {
  const Expr& value = binding.value();
  return !has_effects(value) && !value.as<If>() && !value.as<Loop>();
}

// The plain block as a list of blocks; false when it stays one.
bool cut(const BindingBlock& block, std::vector<BindingBlock>& into) {
  const std::vector<Binding>& bindings = block.bindings;
  bool changed = false;
  std::vector<BindingBlock> made;
  for (std::size_t i = 0; i < bindings.size();) {
    std::size_t end = i;
    while (end < bindings.size() && may_stand_in_dataflow(bindings[end])) ++end;
    const bool dataflow = end - i >= least_bindings;
    if (!dataflow) end = std::max(end, i + 1);
    if (dataflow || made.empty() || made.back().dataflow)
      made.push_back({.dataflow = dataflow, .bindings = {}, .span = bindings[i].span});
    made.back().bindings.insert(made.back().bindings.end(), bindings.begin() + static_cast<std::ptrdiff_t>(i),
                                bindings.begin() + static_cast<std::ptrdiff_t>(end));
    changed = changed || dataflow;
    i = end;
  }
  if (!changed) {
    into.push_back(block);
    return false;
  }
  made.front().comments = block.comments;
  made.back().end_comments = block.end_comments;
  into.insert(into.end(), std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
  return true;
}

// Cuts the blocks of a body and enters into `locals` what only the block of each sees.
bool cut_body(std::vector<BindingBlock>& blocks, std::span<const Expr> results, VarIds& locals) {
  std::vector<BindingBlock> made;
  bool changed = false;
  for (const BindingBlock& block : blocks) {
    if (block.dataflow)
      made.push_back(block);
    else
      changed = cut(block, made) || changed;
  }
  if (!changed) return false;
  collect_locals(made, results, locals);
  blocks = std::move(made);
  return true;
}

// Bodies inside of values.
class BlockCutter : public ExprMapper {
 public:
  explicit BlockCutter(VarIds& locals) : locals_(locals) {}

 protected:
  Expr leave(const Expr& mapped) override {
    if (const auto* branch = mapped.as<If>()) {
      const bool any = changes(*branch->then_region) || changes(*branch->else_region);
      return any ? with_regions(*branch, change_, mapped.span()) : mapped;
    }
    if (const auto* loop = mapped.as<Loop>()) {
      return changes(*loop->body) ? with_regions(*loop, change_, mapped.span()) : mapped;
    }
    if (const auto* nested = mapped.as<FunctionExpr>()) {
      Function copy = *nested->function;
      if (!cut_body(copy.blocks, {&copy.result, 1}, locals_)) return mapped;
      return function_expr(std::make_shared<const Function>(std::move(copy)), mapped.span());
    }
    return mapped;
  }

 private:
  static bool changes(const Region& region) {
    std::vector<BindingBlock> made;
    for (const BindingBlock& block : region.blocks)
      if (!block.dataflow && cut(block, made)) return true;
    return false;
  }

  VarIds& locals_;
  // A condition is one expression in the text: its bindings stand in no block of their own.
  ChangeRegion change_ = [this](const Region& region, RegionRole role) {
    if (role == RegionRole::Condition) return region;
    Region copy = region;
    cut_body(copy.blocks, copy.results, locals_);
    return copy;
  };
};

}  // namespace

Module to_dataflow(const Module& module) {
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    VarIds locals;
    Function copy = *BlockCutter(locals).map(*function);
    if (!cut_body(copy.blocks, {&copy.result, 1}, locals) && locals.empty()) continue;
    result.functions.replace(i, with_locals(std::make_shared<const Function>(std::move(copy)), locals));
  }
  verify_after(result, "to_dataflow");
  return result;
}

}  // namespace relish

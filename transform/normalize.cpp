// Joining blocks, then looking at what they give.
#include "transform/normalize.h"

#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/region_aliases.h"
#include "ir/rewriting/regions.h"
#include "ir/verify/verify.h"
#include "transform/block_outputs.h"

namespace relish {
namespace {

// The second block behind the first; what was said of where it begins stands before its first binding.
void join_blocks(BindingBlock& first, const BindingBlock& second) {
  std::vector<Binding> bindings = second.bindings;
  Comments before;
  append_comments(before, first.end_comments);
  append_comments(before, second.comments);
  CommentsPtr& own = bindings.front().comments;
  if (!before.before.empty()) {
    if (own) {
      before.before.insert(before.before.end(), own->before.begin(), own->before.end());
      before.after = own->after;
    }
    own = std::make_shared<const Comments>(std::move(before));
  }
  first.bindings.insert(first.bindings.end(), bindings.begin(), bindings.end());
  first.end_comments = second.end_comments;
}

bool join_neighbours(std::vector<BindingBlock>& blocks) {
  std::vector<BindingBlock> made;
  for (const BindingBlock& block : blocks) {
    if (block.bindings.empty()) continue;
    if (!made.empty() && made.back().dataflow == block.dataflow)
      join_blocks(made.back(), block);
    else
      made.push_back(block);
  }
  if (made.size() == blocks.size()) return false;
  blocks = std::move(made);
  return true;
}

class Joiner final : public ExprMapper {
 public:
  FunctionPtr joined(const FunctionPtr& function) {
    FunctionPtr made = map(function);
    Function copy = *made;
    if (join_neighbours(copy.blocks)) made = std::make_shared<const Function>(std::move(copy));
    collect_locals(made->blocks, {&made->result, 1}, locals_);
    return with_locals(made, locals_);
  }

 private:
  Expr leave(const Expr& mapped) override {
    bool changed = false;
    const auto joined = [&](const Region& region, RegionRole) {
      Region copy = region;
      changed = join_neighbours(copy.blocks) || changed;
      collect_locals(copy.blocks, copy.results, locals_);
      return copy;
    };
    Expr made = mapped;
    if (const auto* branch = mapped.as<If>()) made = with_regions(*branch, joined, mapped.span());
    if (const auto* loop = mapped.as<Loop>()) made = with_regions(*loop, joined, mapped.span());
    if (const auto* nested = mapped.as<FunctionExpr>()) {
      Function copy = *nested->function;
      changed = join_neighbours(copy.blocks);
      collect_locals(copy.blocks, {&copy.result, 1}, locals_);
      if (changed) made = function_expr(std::make_shared<const Function>(std::move(copy)), mapped.span());
    }
    return changed ? made : mapped;
  }

  VarIds locals_;
};

}  // namespace

Module normalize(const Module& module) {
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    const FunctionPtr made = Joiner().joined(*function);
    if (made != *function) result.functions.replace(i, made);
  }
  verify_after(result, "normalize");
  return result;
}

}  // namespace relish

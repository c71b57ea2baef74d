// Init of empty reductions.
#include "loops/empty_reduction.h"

#include <algorithm>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

bool uses(const Scalar& scalar, const std::unordered_set<std::uint64_t>& vars) {
  if (!scalar.defined()) return false;
  std::vector<ScalarVar> used;
  collect_vars(scalar, used);
  return std::any_of(used.begin(), used.end(), [&](const ScalarVar& var) { return vars.contains(var.id()); });
}

// Whether the loop variable drives reduce axes of the block and nothing else.
bool only_reduces(const ScalarVar& var, const BlockStmt& block) {
  bool reduces = false;
  for (const IterVar& iter : block.iters) {
    if (!uses(iter.binding, {var.id()})) continue;
    if (iter.kind != IterKind::Reduce) return false;
    reduces = true;
  }
  return reduces;
}

}  // namespace

Stmt init_of_empty(const Stmt& stmt) {
  const For* outer = stmt.as<For>();
  if (!outer || outer->extent.as_int().value_or(0) > 0) return {};
  std::vector<const For*> loops;
  Stmt at = stmt;
  while (const For* loop = at.as<For>()) {
    loops.push_back(loop);
    at = loop->body;
  }
  const BlockStmt* block = at.as<BlockStmt>();
  if (!block || !block->init.defined() || !only_reduces(outer->var, *block)) return {};

  std::unordered_set<std::uint64_t> gone;
  std::vector<const For*> kept;
  for (const For* loop : loops) {
    if (only_reduces(loop->var, *block))
      gone.insert(loop->var.id());
    else
      kept.push_back(loop);
  }
  BlockStmt init;
  init.name = block->name + "_init";
  for (const IterVar& iter : block->iters) {
    // An axis that an outer loop drives still tells whether this is its first iteration.
    if (uses(iter.binding, gone))
      gone.insert(iter.var.id());
    else
      init.iters.push_back(iter);
  }
  init.predicate = block->predicate;
  init.allocations = block->allocations;
  init.views = block->views;
  init.init = block->init;
  init.body = seq({});
  bool depends = uses(init.predicate, gone);
  for (const For* loop : kept)
    depends = depends || uses(loop->begin, gone) || uses(loop->extent, gone) || uses(loop->step, gone);
  for_each_scalar(block->init, [&](const Scalar& scalar) {
    const auto var = scalar.as_var();
    depends = depends || (var && gone.contains(var->id()));
  });
  if (depends) return {};
  Stmt result = make_stmt(std::move(init), at->span);
  for (std::size_t i = kept.size(); i-- > 0;) {
    For loop = *kept[i];
    loop.body = result;
    result = make_stmt(std::move(loop), stmt->span);
  }
  return result;
}

}  // namespace relish

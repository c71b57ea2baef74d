// Taking nests of loops apart.
#include "loops/nest.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/faults.h"

namespace relish {

std::optional<Nest> perfect_loops(const Stmt& stmt) {
  Nest nest;
  Stmt at = stmt;
  while (const auto* loop = at.as<For>()) {
    if (loop->begin.as_int() != 0 || loop->step.defined()) return std::nullopt;
    nest.axes.push_back({loop, at->span, loop->var});
    at = loop->body;
  }
  if (nest.axes.empty()) return std::nullopt;
  if (const auto* block = at.as<BlockStmt>()) {
    if (block->predicate.defined() || !block->allocations.empty() || !block->views.empty() ||
        block->iters.size() != nest.axes.size())
      return std::nullopt;
    for (Axis& axis : nest.axes) {
      for (const IterVar& iter : block->iters) {
        const auto bound = iter.binding.as_var();
        if (!bound || !(*bound == axis.loop->var)) continue;
        if (axis.iter || iter.begin.as_int() != 0) return std::nullopt;
        axis.iter = &iter;
        axis.var = iter.var;
      }
      if (!axis.iter) return std::nullopt;
    }
    nest.block = block;
    nest.block_stmt = at;
    at = block->body;
  }
  nest.store = at.as<Store>();
  nest.store_stmt = at;
  return nest;
}

bool mentions(const Scalar& value, const Axis& axis) {
  std::vector<ScalarVar> vars;
  collect_vars(value, vars);
  return std::any_of(vars.begin(), vars.end(),
                     [&](const ScalarVar& var) { return var == axis.var || var == axis.loop->var; });
}

std::optional<Nest> perfect_nest(const Stmt& stmt) {
  auto nest = perfect_loops(stmt);
  return nest && nest->store ? nest : std::nullopt;
}

Stmt without_unit_loops(const Stmt& stmt) {
  const auto nest = perfect_nest(stmt);
  const auto is_unit = [](const Axis& axis) { return axis.loop->extent.as_int() == 1; };
  if (!nest || std::none_of(nest->axes.begin(), nest->axes.end(), is_unit) ||
      std::all_of(nest->axes.begin(), nest->axes.end(), is_unit))
    return stmt;
  ScalarMap places;
  for (const Axis& axis : nest->axes) {
    if (!is_unit(axis)) continue;
    places.insert_or_assign(axis.loop->var.id(), int_literal(axis.loop->var.dtype(), 0));
    places.insert_or_assign(axis.var.id(), int_literal(axis.var.dtype(), 0));
  }
  Stmt body = substitute(nest->store_stmt, places);
  if (nest->block) {
    BlockStmt block = *nest->block;
    std::erase_if(block.iters, [&](const IterVar& iter) { return places.contains(iter.var.id()); });
    block.reads = block.writes = std::nullopt;
    if (block.init.defined()) block.init = substitute(block.init, places);
    block.body = body;
    body = make_stmt(std::move(block), nest->block_stmt->span);
  }
  for (std::size_t i = nest->axes.size(); i-- > 0;) {
    if (is_unit(nest->axes[i])) continue;
    For loop = *nest->axes[i].loop;
    loop.body = body;
    body = make_stmt(std::move(loop), nest->axes[i].span);
  }
  return body;
}

std::size_t dimension_along_memory(const Buffer& buffer) {
  std::size_t last = buffer.shape().size() - 1;
  for (std::size_t d = last + 1; d-- > 0;)
    if (buffer.shape()[d].as_int() != 1) return d;
  return last;
}

std::optional<ScalarVar> strided_var(const Scalar& index) {
  const Scalar* at = &index;
  const auto* sum = at->as<Binary>();
  if (sum && sum->op == BinaryOp::Add && sum->b.as_int()) at = &sum->a;
  const auto* scaled = at->as<Binary>();
  if (scaled && scaled->op == BinaryOp::Mul && scaled->b.as_int().value_or(0) > 0) at = &scaled->a;
  return at->as_var();
}

bool find_stored_axes(Nest& nest, bool strided, bool outer) {
  for (const Scalar& index : nest.store->indices) {
    if (index.as_int()) continue;
    const auto var = strided ? strided_var(index) : index.as_var();
    if (!var) return false;
    auto axis =
        std::find_if(nest.axes.begin(), nest.axes.end(), [&](const Axis& a) { return a.var == *var; });
    const bool from_outside =
        outer && axis == nest.axes.end() &&
        std::none_of(nest.axes.begin(), nest.axes.end(), [&](const Axis& a) { return a.loop->var == *var; });
    if (from_outside) continue;
    if (axis == nest.axes.end() || axis->stored) return false;
    axis->stored = true;
  }
  return true;
}

const Store* matching_init(const Nest& nest) {
  const auto* init = nest.block->init.as<Store>();
  if (!init || !(init->buffer == nest.store->buffer) || !same_indices(init->indices, nest.store->indices))
    return nullptr;
  std::vector<Access> loads;
  collect_loads(init->value, loads);
  for (const Access& load : loads)
    if (*load.buffer == nest.store->buffer) return nullptr;
  for (const Axis& axis : nest.axes)
    if (axis.stored == (axis.iter->kind == IterKind::Reduce)) return nullptr;
  return init;
}

void enter(const Nest& nest, RangeProver& prover) {
  for (const Axis& axis : nest.axes) {
    prover.enter_loop(axis.loop->var, axis.loop->begin, axis.loop->extent);
    if (axis.iter) prover.bind(axis.var, axis.iter->binding);
  }
}

void leave(const Nest& nest, RangeProver& prover) {
  for (std::size_t i = 0; i < nest.axes.size(); ++i) prover.leave_loop();
}

bool may_fault(const Nest& nest, const Store* init, RangeProver& prover) {
  if (may_fault(nest.store->value, prover) || (init && may_fault(init->value, prover))) return true;
  for (std::size_t d = 0; d < nest.store->indices.size(); ++d)
    if (!prover.in_range(nest.store->indices[d], nest.store->buffer.shape()[d])) return true;
  return false;
}

}  // namespace relish

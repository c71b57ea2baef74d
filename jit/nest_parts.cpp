// Taking nests of loops apart.
#include "jit/nest_parts.h"

#include <algorithm>

namespace relish::jit {

void for_each_operand(const Scalar& value, const std::function<void(const Scalar&)>& visit) {
  if (const auto* n = value.as<Binary>()) {
    visit(n->a);
    visit(n->b);
  } else if (const auto* n = value.as<Compare>()) {
    visit(n->a);
    visit(n->b);
  } else if (const auto* n = value.as<Logical>()) {
    visit(n->a);
    visit(n->b);
  } else if (const auto* n = value.as<Not>())
    visit(n->a);
  else if (const auto* n = value.as<Select>()) {
    visit(n->condition);
    visit(n->a);
    visit(n->b);
  } else if (const auto* n = value.as<Cast>())
    visit(n->a);
  else if (const auto* n = value.as<Reinterpret>())
    visit(n->a);
  else if (const auto* n = value.as<Let>()) {
    visit(n->value);
    visit(n->body);
  } else if (const auto* n = value.as<Load>())
    for (const Scalar& index : n->indices) visit(index);
  else if (const auto* n = value.as<IntrinsicCall>())
    for (const Scalar& arg : n->args) visit(arg);
  else if (const auto* n = value.as<ForeignCall>())
    for (const Scalar& arg : n->args) visit(arg);
}

void collect_loads(const Scalar& value, std::vector<Access>& into) {
  if (const auto* load = value.as<Load>()) into.push_back({load->buffer.get(), &load->indices, false});
  for_each_operand(value, [&](const Scalar& operand) { collect_loads(operand, into); });
}

void Body::visit(const Stmt& stmt) {
  if (!stmt.defined()) return;
  if (const auto* n = stmt.as<For>()) {
    scalar(n->begin);
    scalar(n->extent);
    scalar(n->step);
    visit(n->body);
  } else if (const auto* n = stmt.as<While>()) {
    scalar(n->condition);
    visit(n->body);
  } else if (const auto* n = stmt.as<BlockStmt>()) {
    for (const IterVar& iter : n->iters) {
      scalar(iter.binding);
      prover.bind(iter.var, iter.binding);
    }
    scalar(n->predicate);
    for (const Buffer& buffer : n->allocations) own_buffers.insert(buffer.id());
    if (!n->views.empty()) has_views = true;
    visit(n->init);
    visit(n->body);
  } else if (const auto* n = stmt.as<Store>()) {
    for (const Scalar& index : n->indices) scalar(index);
    scalar(n->value);
    accesses.push_back({&n->buffer, &n->indices, true});
  } else if (const auto* n = stmt.as<AllocateStmt>()) {
    own_buffers.insert(n->buffer.id());
  } else if (const auto* n = stmt.as<DefineScalar>()) {
    scalar(n->value);
    own_scalars.insert(n->var.id());
  } else if (const auto* n = stmt.as<AssignScalar>()) {
    scalar(n->value);
    if (!own_scalars.contains(n->var.id())) assigns_outside = true;
  } else if (const auto* n = stmt.as<IfStmt>()) {
    scalar(n->condition);
    visit(n->then_body);
    visit(n->else_body);
  } else if (const auto* n = stmt.as<AssertStmt>()) {
    scalar(n->condition);
  } else if (const auto* n = stmt.as<Evaluate>()) {
    scalar(n->value);
  } else if (const auto* n = stmt.as<SeqStmt>()) {
    for (const Stmt& child : n->body) visit(child);
  } else if (const auto* n = stmt.as<Return>()) {
    scalar(n->value);
    has_jumps = true;
  } else if (stmt.as<Break>() || stmt.as<Continue>()) {
    has_jumps = true;
  } else if (stmt.as<ViewStmt>()) {
    has_views = true;
  }
}

bool same_indices(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), structurally_equal);
}

std::optional<Nest> perfect_nest(const Stmt& stmt) {
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
  if (!nest.store) return std::nullopt;
  return nest;
}

bool find_stored_axes(Nest& nest) {
  for (const Scalar& index : nest.store->indices) {
    if (index.as_int()) continue;
    const auto var = index.as_var();
    if (!var) return false;
    auto axis =
        std::find_if(nest.axes.begin(), nest.axes.end(), [&](const Axis& a) { return a.var == *var; });
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

}  // namespace relish::jit

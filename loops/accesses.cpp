// Collecting the accesses of statements.
#include "loops/accesses.h"

#include "loops/digits.h"

#include <algorithm>

#include "ir/scalars/scalar_order.h"

namespace relish {

void collect_loads(const Scalar& value, std::vector<Access>& into) {
  if (const auto* load = value.as<Load>()) into.push_back({load->buffer.get(), &load->indices, false});
  for_each_operand(value, [&](const Scalar& operand) { collect_loads(operand, into); });
}

Pace pace_of(const Buffer& buffer, const std::vector<Scalar>& indices, const ScalarVar& loop_var,
             RangeProver& prover) {
  // Digits of a number, as a reshape has them, are that number where they become a place.
  if (const auto place = counted_place(buffer, indices)) {
    const auto stride = prover.stride(*place, loop_var);
    if (stride && stride->is_zero()) return Pace::Still;
    return stride && stride->constant() == 1 ? Pace::Along : Pace::Across;
  }
  // Behind the last dimension that has more than one element nothing moves.
  std::size_t last = indices.size();
  while (last > 0 && buffer.shape()[last - 1].as_int() == 1) --last;
  Pace pace = Pace::Still;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const auto stride = prover.stride(indices[d], loop_var);
    if (!stride) return Pace::Across;
    if (stride->is_zero()) continue;
    if (d + 1 != last || stride->constant() != 1) return Pace::Across;
    pace = Pace::Along;
  }
  return pace;
}

void BodyAccesses::visit(const Stmt& stmt) {
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
    // An element that is asked for is not read: nothing depends on it.
    if (const auto* asked = n->value.as<Load>())
      for (const Scalar& index : asked->indices) scalar(index);
    else
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

std::vector<Access> accesses_in(const Stmt& stmt) {
  RangeProver prover;
  BodyAccesses body{prover};
  body.visit(stmt);
  return std::move(body.accesses);
}

bool loads_from(const Stmt& stmt, const Buffer& buffer) {
  const std::vector<Access> accesses = accesses_in(stmt);
  return std::any_of(accesses.begin(), accesses.end(),
                     [&](const Access& access) { return !access.store && *access.buffer == buffer; });
}

bool may_run_in_turns(const std::vector<Access>& first, const std::vector<Access>& second,
                      const Buffer& handed) {
  return std::none_of(first.begin(), first.end(), [&](const Access& a) {
    return std::any_of(second.begin(), second.end(), [&](const Access& b) {
      return *a.buffer == *b.buffer && (a.store || b.store) && !(*a.buffer == handed);
    });
  });
}

bool same_indices(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), structurally_equal);
}

}  // namespace relish

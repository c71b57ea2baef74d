// Independence of iterations.
#include "loops/iterations.h"

#include <algorithm>
#include <functional>

#include "ir/scalars/scalar_order.h"
#include "loops/accesses.h"

namespace relish {

bool independent_iterations(const For& loop, RangeProver& prover) {
  BodyAccesses body{prover};
  body.visit(loop.body);
  if (body.assigns_outside || body.has_views) return false;
  const auto fixed = [&](const Polynomial& p) {
    // Nothing in it may change within the loop: constants and dims only.
    for (const auto& term : p.terms())
      for (const auto atom : term.first)
        if (!prover.is_dimension(atom)) return false;
    return true;
  };
  for (const Access& store : body.accesses) {
    if (!store.store || body.own_buffers.contains(store.buffer->id())) continue;
    bool separated = false;
    for (std::size_t d = 0; d < store.indices->size() && !separated; ++d) {
      const Polynomial at = prover.polynomial((*store.indices)[d]);
      const auto split = at.split(loop.var.id());
      if (!split || split->quotient.constant() != 1 || !fixed(split->rest)) continue;
      separated = std::all_of(body.accesses.begin(), body.accesses.end(), [&](const Access& other) {
        return !(*other.buffer == *store.buffer) || (prover.polynomial((*other.indices)[d]) - at).is_zero();
      });
    }
    if (!separated) return false;
  }
  return true;
}

LoopTraits traits_of(const For& loop, RangeProver& prover) {
  LoopTraits traits;
  BodyAccesses body{prover};
  body.visit(loop.body);
  for (const Access& access : body.accesses) {
    for (const Scalar& index : *access.indices)
      traits.affine = traits.affine && prover.stride(index, loop.var);
    if (!access.store) continue;
    const bool moves = std::any_of(access.indices->begin(), access.indices->end(),
                                   [&](const Scalar& index) { return prover.depends_on(index, loop.var); });
    if (!moves) traits.reduces = true;
  }
  const std::function<void(const Stmt&)> visit = [&](const Stmt& stmt) {
    if (!stmt.defined()) return;
    if (const auto* n = stmt.as<BlockStmt>()) {
      visit(n->init);
      visit(n->body);
    } else if (const auto* n = stmt.as<SeqStmt>()) {
      for (const Stmt& child : n->body) visit(child);
    } else if (const auto* n = stmt.as<For>()) {
      visit(n->body);
    } else if (const auto* n = stmt.as<Store>()) {
      traits.calls = traits.calls || count_intrinsics(n->value) > 0;
    } else if (stmt.as<IfStmt>() || stmt.as<DefineScalar>()) {
      traits.calls = true;  // not looked into
    }
  };
  visit(loop.body);
  return traits;
}

int count_intrinsics(const Scalar& value) {
  int count = value.as<IntrinsicCall>() ? 1 : 0;
  for_each_operand(value, [&](const Scalar& operand) { count += count_intrinsics(operand); });
  return count;
}

}  // namespace relish

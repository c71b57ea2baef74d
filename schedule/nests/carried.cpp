// The element before becomes a variable.
#include "schedule/nests/carried.h"

#include <algorithm>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/faults.h"

namespace relish {
namespace {

// The store in the loop, with what its block's variables stand for in their place. Nothing where the loop
// holds anything else.
std::optional<Store> only_store(const For& loop) {
  Stmt at = loop.body;
  ScalarMap bindings;
  if (const auto* block = at.as<BlockStmt>()) {
    if (block->predicate.defined() || !block->allocations.empty() || !block->views.empty() ||
        block->init.defined())
      return std::nullopt;
    for (const IterVar& iter : block->iters) bindings.insert_or_assign(iter.var.id(), iter.binding);
    at = block->body;
  }
  const auto* store = at.as<Store>();
  if (!store) return std::nullopt;
  Store copy = *store;
  copy.value = substitute(copy.value, bindings);
  for (Scalar& index : copy.indices) index = substitute(index, bindings);
  return copy;
}

std::vector<Scalar> at_iteration(const std::vector<Scalar>& indices, const ScalarVar& var, const Scalar& at) {
  std::vector<Scalar> result;
  for (const Scalar& index : indices) result.push_back(substitute(index, {{var.id(), at}}));
  return result;
}

bool same_place(const std::vector<Scalar>& a, const std::vector<Scalar>& b, RangeProver& prover) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const Scalar& x, const Scalar& y) { return prover.same(x, y); });
}

// The element, or nothing where there is none: then the iteration has a condition by which it reads none.
Scalar load_if_there(const Buffer& buffer, const std::vector<Scalar>& place) {
  Scalar there;
  for (std::size_t d = 0; d < place.size(); ++d) {
    const Scalar index = cast(DType::Int64, place[d]);
    const Scalar fits = logical(LogicalOp::And, index >= int_literal(DType::Int64, 0),
                                index < cast(DType::Int64, buffer.shape()[d]));
    there = there.defined() ? logical(LogicalOp::And, there, fits) : fits;
  }
  return if_then_else(there, load(buffer, place), zero(buffer.dtype()));
}

bool binds_names(const Scalar& value) {
  bool found = false;
  for_each_scalar(value,
                  [&](const Scalar& part) { found = found || part.as<Let>() || part.as<ForeignCall>(); });
  return found;
}

}  // namespace

std::optional<Stmt> with_carried_element(const Stmt& stmt, RangeProver& prover) {
  const For& loop = *stmt.as<For>();
  if (loop.kind != LoopKind::Serial || loop.step.defined() || !loop.annotations.empty()) return std::nullopt;
  auto store = only_store(loop);
  if (!store || store->indices.empty() || store->buffer.is_pointer() ||
      store->value.dtype() != store->buffer.dtype() || binds_names(store->value))
    return std::nullopt;

  // Every read of the buffer is one of the element before, which lies in the buffer as the read does.
  const DType count = loop.var.dtype();
  const std::vector<Scalar> before =
      at_iteration(store->indices, loop.var, use(loop.var) - int_literal(count, 1));
  std::vector<Access> loads;
  collect_loads(store->value, loads);
  for (const Scalar& index : store->indices) collect_loads(index, loads);
  const auto is_own = [&](const Access& load) { return *load.buffer == store->buffer; };
  if (std::none_of(loads.begin(), loads.end(), is_own)) return std::nullopt;
  prover.enter_loop(loop.var, loop.begin, loop.extent);
  bool fits = std::all_of(loads.begin(), loads.end(), [&](const Access& load) {
    return !is_own(load) || same_place(*load.indices, before, prover);
  });
  // One that is somewhere else in the next iteration, and where nothing can fail between.
  fits = fits && !same_place(store->indices, before, prover) && !may_fault(store->value, prover);
  bool always_there = true;  // what is read, also where a choice does not read it
  for (std::size_t d = 0; d < store->indices.size(); ++d) {
    fits = fits && prover.in_range(store->indices[d], store->buffer.shape()[d]);
    always_there = always_there && prover.in_range(before[d], store->buffer.shape()[d]);
  }
  prover.leave_loop();
  if (!fits) return std::nullopt;

  const ScalarVar element("before", store->buffer.dtype(), stmt->span);
  std::vector<Scalar> place = at_iteration(before, loop.var, loop.begin);
  for (Scalar& index : place) index = canonical(index);
  const Scalar first = always_there ? load(store->buffer, place) : load_if_there(store->buffer, place);
  store->value = rewrite(store->value, [&](const Scalar& part) -> std::optional<Scalar> {
    const auto* own = part.as<Load>();
    if (!own || !(*own->buffer == store->buffer)) return std::nullopt;
    return use(element);
  });
  const Span span = loop.body->span;
  const Stmt next = make_stmt(AssignScalar{element, store->value}, span);
  store->value = use(element);
  For around = loop;
  around.body = seq({next, make_stmt(std::move(*store), span)}, span);
  const Stmt whole = seq({make_stmt(DefineScalar{element, first}, stmt->span),
                          make_stmt(std::move(around), stmt->span, stmt->comments)},
                         stmt->span);
  // Without an iteration there need not be an element before.
  if (loop.extent.as_int().value_or(0) > 0) return whole;
  return make_stmt(IfStmt{loop.extent > int_literal(loop.extent.dtype(), 0), whole, {}}, stmt->span);
}

}  // namespace relish

// Pairs of nests: one stores a number to every element that the other updates.
#include "schedule/contraction/joined_inits.h"

#include <algorithm>

#include "loops/nest.h"
#include "loops/work.h"
#include "schedule/contraction/contraction.h"

namespace relish {
namespace {

const Axis* counted_axis(const Nest& nest, const Scalar& index) {
  const auto var = index.as_var();
  const auto found = std::find_if(nest.axes.begin(), nest.axes.end(),
                                  [&](const Axis& axis) { return var && axis.var == *var; });
  return found == nest.axes.end() ? nullptr : &*found;
}

// Whether every axis of the first nest counts an index of its store, over the same elements as the second's.
bool begins(const Nest& first, const Nest& sums) {
  const Store &before = *first.store, &update = *sums.store;
  if (!(before.buffer == update.buffer) || !before.value.as<FloatLiteral>() ||
      before.indices.size() != first.axes.size())
    return false;
  for (std::size_t d = 0; d < before.indices.size(); ++d) {
    const Axis *one = counted_axis(first, before.indices[d]), *other = counted_axis(sums, update.indices[d]);
    if (!one || !other || !prove_equal(one->loop->extent, other->loop->extent)) return false;
  }
  return true;
}

// The second nest with the first as its init; undefined when they are no such pair.
Stmt with_init_of(const Stmt& first, const Stmt& second) {
  auto before = perfect_nest(first), sums = perfect_nest(second);
  if (!before || !sums || !find_stored_axes(*before) || !find_stored_axes(*sums)) return {};
  const bool open = std::any_of(sums->axes.begin(), sums->axes.end(),
                                [](const Axis& axis) { return !axis.stored && !axis.loop->extent.as_int(); });
  if (!open || !sums->block || sums->block->init.defined() ||
      (before->block && before->block->init.defined()) || !begins(*before, *sums))
    return {};
  BlockStmt block = *sums->block;
  block.init = make_stmt(Store{sums->store->buffer, sums->store->indices, before->store->value},
                         before->store_stmt->span);
  block.reads = block.writes = std::nullopt;  // with an init they leave out what is updated
  Stmt body = make_stmt(std::move(block), sums->block_stmt->span);
  for (std::size_t i = sums->axes.size(); i-- > 0;) {
    For loop = *sums->axes[i].loop;
    loop.body = body;
    body = make_stmt(std::move(loop), sums->axes[i].span);
  }
  return body;
}

}  // namespace

PrimFuncPtr with_joined_inits(const PrimFuncPtr& function, const Target& target) {
  const auto* sequence = function->body.as<SeqStmt>();
  if (!sequence || declares_views(*function)) return function;
  RangeProver prover;
  assume_sizes(*function, prover);
  std::vector<Stmt> body;
  for (const Stmt& child : sequence->body) {
    const Stmt whole = body.empty() ? Stmt() : with_init_of(body.back(), child);
    if (whole.defined() && contract(whole, prover, target))
      body.back() = whole;
    else
      body.push_back(child);
  }
  if (body.size() == sequence->body.size()) return function;
  auto result = std::make_shared<PrimFunc>(*function);
  result->body = seq(std::move(body), function->body->span);
  return result;
}

}  // namespace relish

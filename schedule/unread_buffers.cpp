// Finding and dropping stores that nothing reads.
#include "schedule/unread_buffers.h"

#include <algorithm>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"
#include "loops/faults.h"
#include "loops/range_prover.h"
#include "loops/work.h"

namespace relish {
namespace {

using Unread = std::unordered_set<std::uint64_t>;

// The temporaries that are stored to and never loaded, nor given to a call.
Unread unread_in(const PrimFunc& function) {
  Unread unread;
  for (const Buffer& buffer : function.allocations) unread.insert(buffer.id());
  for_each_scalar(function.body, [&](const Scalar& scalar) {
    if (const auto* loaded = scalar.as<Load>()) unread.erase(loaded->buffer->id());
    if (const auto* given = scalar.as<DataOf>()) unread.erase(given->buffer->id());
  });
  return unread;
}

class StoreDropper {
 public:
  explicit StoreDropper(const PrimFunc& function) : unread_(unread_in(function)) {
    assume_sizes(function, prover_);
  }

  bool finds_none() const { return unread_.empty(); }

  // Undefined where nothing is left.
  Stmt without(const Stmt& stmt) {
    if (const auto* store = stmt.as<Store>())
      return unread_.contains(store->buffer.id()) && succeeds(*store) ? Stmt() : stmt;
    if (const auto* sequence = stmt.as<SeqStmt>()) {
      std::vector<Stmt> body;
      bool changed = false;
      for (const Stmt& child : sequence->body) {
        Stmt left = without(child);
        changed = changed || !left.same_as(child);
        if (left.defined()) body.push_back(std::move(left));
      }
      if (!changed) return stmt;
      return body.empty() ? Stmt() : seq(std::move(body), stmt->span);
    }
    if (const auto* found = stmt.as<For>()) {
      For loop = *found;
      prover_.enter_loop(loop.var, loop.begin, loop.extent);
      loop.body = without(loop.body);
      prover_.leave_loop();
      return made(stmt, found->body, std::move(loop));
    }
    if (const auto* found = stmt.as<BlockStmt>();
        found && !found->init.defined() && !found->predicate.defined()) {
      BlockStmt block = *found;
      for (const IterVar& iter : block.iters) prover_.bind(iter.var, iter.binding);
      block.body = without(block.body);
      if (!block.body.same_as(found->body)) block.reads = block.writes = std::nullopt;
      return made(stmt, found->body, std::move(block));
    }
    return stmt;
  }

 private:
  bool succeeds(const Store& store) {
    for (std::size_t d = 0; d < store.indices.size(); ++d)
      if (may_fault(store.indices[d], prover_) ||
          !prover_.in_range(store.indices[d], store.buffer.shape()[d]))
        return false;
    return !may_fault(store.value, prover_);
  }
  template <class Kind>
  static Stmt made(const Stmt& before, const Stmt& body, Kind kind) {
    if (!kind.body.defined()) return {};
    return kind.body.same_as(body) ? before : make_stmt(std::move(kind), before->span, before->comments);
  }

  const Unread unread_;
  RangeProver prover_;
};

}  // namespace

PrimFuncPtr without_unread_buffers(const PrimFuncPtr& function) {
  if (!function->body.defined() || declares_views(*function)) return function;
  StoreDropper dropper(*function);
  if (dropper.finds_none()) return function;
  const Stmt body = dropper.without(function->body);
  if (!body.defined() || body.same_as(function->body)) return function;
  Unread stored;
  // A block may say that it works on a buffer which it does not touch.
  const auto keep_declared = [&](const std::optional<std::vector<BufferRegion>>& regions) {
    for (const BufferRegion& region : regions.value_or(std::vector<BufferRegion>()))
      stored.insert(region.buffer.id());
  };
  for_each_stmt(body, [&](const Stmt& stmt) {
    if (const auto* store = stmt.as<Store>()) stored.insert(store->buffer.id());
    if (const auto* block = stmt.as<BlockStmt>()) {
      keep_declared(block->reads);
      keep_declared(block->writes);
    }
  });
  const Unread unread = unread_in(*function);
  auto result = std::make_shared<PrimFunc>(*function);
  result->body = body;
  std::erase_if(result->allocations, [&](const Buffer& buffer) {
    return unread.contains(buffer.id()) && !stored.contains(buffer.id());
  });
  return result;
}

}  // namespace relish

// A block of several updates in several blocks.
#include "schedule/nests/parted_updates.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/nest.h"
#include "loops/primitives.h"
#include "loops/reduction.h"

namespace relish {
namespace {

std::vector<Stmt> statements_of(const Stmt& stmt) {
  if (!stmt.defined()) return {};
  const auto* sequence = stmt.as<SeqStmt>();
  return sequence ? sequence->body : std::vector<Stmt>{stmt};
}

// The stores of a block, with what its lets name in the place of the names. Nothing where the block does
// anything else, stores to a buffer twice, or a function that two stores need would be computed twice.
class Stores {
 public:
  static std::optional<std::vector<Stmt>> of(const Stmt& body) {
    Stores found;
    for (const Stmt& stmt : statements_of(body))
      if (!found.take(stmt)) return std::nullopt;
    for (const auto& [var, users] : found.users_)
      if (users > 1) return std::nullopt;
    return std::move(found.stores_);
  }

 private:
  bool take(const Stmt& stmt) {
    if (const auto* define = stmt.as<DefineScalar>()) {
      if (!define->value.defined()) return false;  // nothing here assigns to it
      if (computes(define->value)) users_.emplace(define->var.id(), 0);
      uses_.emplace(define->var.id(), used_in(define->value));
      lets_.insert_or_assign(define->var.id(), substitute(define->value, lets_));
      return true;
    }
    const auto* store = stmt.as<Store>();
    if (!store || !buffers_.insert(store->buffer.id()).second) return false;
    Store copy = *store;
    std::unordered_set<std::uint64_t> used = used_in(copy.value);
    for (Scalar& index : copy.indices) {
      used.merge(used_in(index));
      index = substitute(index, lets_);
    }
    copy.value = substitute(copy.value, lets_);
    for (const std::uint64_t var : used)
      if (const auto counted = users_.find(var); counted != users_.end()) ++counted->second;
    stores_.push_back(make_stmt(std::move(copy), stmt->span, stmt->comments));
    return true;
  }

  static bool computes(const Scalar& value) {
    bool found = false;
    for_each_scalar(value, [&](const Scalar& part) { found = found || part.as<IntrinsicCall>(); });
    return found;
  }

  // The lets that a value names, and those that these name.
  std::unordered_set<std::uint64_t> used_in(const Scalar& value) const {
    std::unordered_set<std::uint64_t> used;
    for_each_scalar(value, [&](const Scalar& part) {
      const std::optional<ScalarVar> var = part.as_var();
      const auto let = var ? uses_.find(var->id()) : uses_.end();
      if (let == uses_.end()) return;
      used.insert(var->id());
      used.insert(let->second.begin(), let->second.end());
    });
    return used;
  }

  ScalarMap lets_;
  std::unordered_map<std::uint64_t, std::unordered_set<std::uint64_t>> uses_;
  std::unordered_map<std::uint64_t, int> users_;  // of lets with functions: how many stores need them
  std::unordered_set<std::uint64_t> buffers_;
  std::vector<Stmt> stores_;
};

// Whether the scalar loads an element of one of the buffers other than `own`.
bool loads_another(const Scalar& value, const std::vector<Stmt>& stores, const Buffer* own) {
  if (!value.defined()) return false;
  std::vector<Access> loads;
  collect_loads(value, loads);
  return std::any_of(loads.begin(), loads.end(), [&](const Access& load) {
    if (own && *load.buffer == *own) return false;
    return std::any_of(stores.begin(), stores.end(),
                       [&](const Stmt& store) { return store.as<Store>()->buffer == *load.buffer; });
  });
}

bool is_apart(const Stmt& stmt, const std::vector<Stmt>& stores, bool own) {
  const auto& store = *stmt.as<Store>();
  const Buffer* allowed = own ? &store.buffer : nullptr;
  return !loads_another(store.value, stores, allowed) &&
         std::none_of(store.indices.begin(), store.indices.end(),
                      [&](const Scalar& index) { return loads_another(index, stores, nullptr); });
}

}  // namespace

std::optional<Stmt> part_updates(const Stmt& stmt, RangeProver& prover) {
  const auto nest = perfect_loops(stmt);
  if (!nest || nest->store || !nest->block || nest->axes.empty()) return std::nullopt;
  const BlockStmt& block = *nest->block;
  if (!block.allocations.empty() || !block.views.empty()) return std::nullopt;
  const auto stores = Stores::of(block.body);
  if (!stores || stores->size() < 2 || loads_another(block.predicate, *stores, nullptr)) return std::nullopt;
  for (const Stmt& store : *stores) {
    if (!as_update(*store.as<Store>()) || !is_apart(store, *stores, true)) return std::nullopt;
  }
  const auto inits = Stores::of(block.init.defined() ? block.init : seq({}));
  if (!inits) return std::nullopt;
  for (const Stmt& init : *inits)
    if (!is_apart(init, *stores, false)) return std::nullopt;
  for (const IterVar& iter : block.iters)
    if (loads_another(iter.binding, *stores, nullptr)) return std::nullopt;
  const bool sums = std::any_of(nest->axes.begin(), nest->axes.end(), [](const Axis& axis) {
    return axis.iter && axis.iter->kind != IterKind::Spatial;
  });
  if (!sums) return std::nullopt;

  std::size_t placed = 0;
  std::vector<Stmt> parts;
  for (const Stmt& store : *stores) {
    BlockStmt part = block;
    part.body = store;
    part.init = {};
    for (const Stmt& init : *inits) {
      if (!(init.as<Store>()->buffer == store.as<Store>()->buffer)) continue;
      part.init = init;
      ++placed;
    }
    part.reads = part.writes = std::nullopt;
    Stmt body = make_stmt(std::move(part), nest->block_stmt->span, nest->block_stmt->comments);
    for (std::size_t i = nest->axes.size(); i-- > 0;) {
      For loop = *nest->axes[i].loop;
      loop.body = body;
      body = make_stmt(std::move(loop), nest->axes[i].span);
    }
    auto whole = perfect_nest(body);
    if (!whole || !find_stored_axes(*whole) || (inits->size() > 0 && !matching_init(*whole)))
      return std::nullopt;
    enter(*whole, prover);
    const bool fails = may_fault(*whole, matching_init(*whole), prover);
    leave(*whole, prover);
    if (fails) return std::nullopt;
    parts.push_back(parts.empty() ? body : fresh_copy(body));
  }
  if (placed != inits->size()) return std::nullopt;
  return seq(std::move(parts), stmt->span);
}

}  // namespace relish

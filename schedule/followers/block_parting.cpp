// The loop may count chunks of what the buffer holds: an index moves by so many elements with it, and what is
// added to that is less. Then the windows that lie in one chunk belong to one iteration.
#include "schedule/followers/block_parting.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"

namespace relish {
namespace {

using VisitAccess = std::function<void(const Buffer&, const std::vector<Scalar>& indices, bool store)>;

// Visits all accesses inside of the loops around them. False when there is a statement that may do more than
// that.
bool visit_in_loops(const Stmt& stmt, RangeProver& prover, const VisitAccess& visit) {
  if (!stmt.defined()) return true;
  const auto loads_of = [&](const Scalar& value) {
    std::vector<Access> loads;
    if (value.defined()) collect_loads(value, loads);
    for (const Access& load : loads) visit(*load.buffer, *load.indices, false);
  };
  if (const auto* loop = stmt.as<For>()) {
    if (loop->step.defined() || loop->kind == LoopKind::ThreadBinding) return false;
    loads_of(loop->begin);
    loads_of(loop->extent);
    prover.enter_loop(loop->var, loop->begin, loop->extent);
    const bool fine = visit_in_loops(loop->body, prover, visit);
    prover.leave_loop();
    return fine;
  }
  if (const auto* block = stmt.as<BlockStmt>()) {
    if (!block->views.empty()) return false;
    for (const IterVar& iter : block->iters) {
      loads_of(iter.binding);
      prover.bind(iter.var, iter.binding);
    }
    loads_of(block->predicate);
    return visit_in_loops(block->init, prover, visit) && visit_in_loops(block->body, prover, visit);
  }
  if (const auto* sequence = stmt.as<SeqStmt>())
    return std::all_of(sequence->body.begin(), sequence->body.end(),
                       [&](const Stmt& child) { return visit_in_loops(child, prover, visit); });
  if (const auto* either = stmt.as<IfStmt>()) {
    loads_of(either->condition);
    return visit_in_loops(either->then_body, prover, visit) &&
           visit_in_loops(either->else_body, prover, visit);
  }
  if (const auto* store = stmt.as<Store>()) {
    for (const Scalar& index : store->indices) loads_of(index);
    loads_of(store->value);
    visit(store->buffer, store->indices, true);
    return true;
  }
  if (const auto* named = stmt.as<DefineScalar>()) {
    loads_of(named->value);
    return true;
  }
  // What is only asked for is not read, but has to be where it is.
  if (const auto* asked = stmt.as<Evaluate>()) {
    loads_of(asked->value);
    return true;
  }
  return false;
}

// By how many elements an index moves with the loop when what is added to that is less: the index of chunks
// of so many. 0 when it is none. `by`: the variable by which alone an index of chunks depends on the loop.
std::int64_t chunk_of(const Scalar& index, const ScalarVar& loop, const ScalarVar& by, RangeProver& prover) {
  if (index.dtype() != loop.dtype()) return 0;
  const auto stride = prover.stride(index, loop);
  const std::int64_t chunk = stride ? stride->constant().value_or(0) : 0;
  if (chunk < 1) return 0;
  std::vector<ScalarVar> vars;
  collect_vars(index, vars);
  const bool alone = std::none_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
    return !(var == by) && prover.depends_on(use(var), loop);
  });
  const Scalar size = int_literal(loop.dtype(), chunk);
  return (chunk == 1 || alone) && prover.in_range(index - size * use(loop), size) ? chunk : 0;
}

// By dimension, the chunk of it to which an iteration of the loop keeps; 0 for none.
std::vector<std::int64_t> made_chunks(const For& loop, const Buffer& buffer, RangeProver& prover) {
  std::vector<std::int64_t> chunks(buffer.shape().size(), -1);
  prover.enter_loop(loop.var, loop.begin, loop.extent);
  const bool known =
      visit_in_loops(loop.body, prover, [&](const Buffer& each, const std::vector<Scalar>& indices, bool) {
        if (!(each == buffer)) return;
        for (std::size_t d = 0; d < chunks.size(); ++d) {
          const std::int64_t chunk = chunk_of(indices[d], loop.var, loop.var, prover);
          chunks[d] = chunks[d] == -1 || chunks[d] == chunk ? chunk : 0;
        }
      });
  prover.leave_loop();
  for (std::int64_t& chunk : chunks)
    if (!known || chunk == -1) chunk = 0;
  return chunks;
}

// By dimension, how many elements of it belong to one iteration of that loop of the reader, where no other
// iteration reads them; 0 for none. All 0 when its iterations may not run apart. `axis`: the block's
// variable.
std::vector<std::int64_t> read_chunks(const BlockReader& reader, std::size_t position, const ScalarVar& axis,
                                      const Buffer& buffer, RangeProver& prover) {
  const For& loop = *reader.loops[position].as<For>();
  std::vector<std::int64_t> windows(buffer.shape().size(), -1);
  // By buffer that is stored to: the dimensions by which iterations are told apart.
  std::unordered_map<std::uint64_t, std::vector<bool>> places;
  std::unordered_set<std::uint64_t> stored;
  std::unordered_set<std::uint64_t> own;
  for_each_stmt(reader.block, [&](const Stmt& stmt) {
    if (const auto* block = stmt.as<BlockStmt>())
      for (const Buffer& each : block->allocations) own.insert(each.id());
  });
  const bool known = visit_in_loops(
      reader.statement(), prover, [&](const Buffer& each, const std::vector<Scalar>& indices, bool store) {
        if (each == buffer) {
          for (std::size_t d = 0; d < windows.size(); ++d) {
            const std::int64_t window = store ? 0 : chunk_of(indices[d], loop.var, axis, prover);
            windows[d] = windows[d] == -1 || windows[d] == window ? window : 0;
          }
          return;
        }
        if (store) stored.insert(each.id());
        std::vector<bool>& apart =
            places.try_emplace(each.id(), std::vector<bool>(indices.size(), true)).first->second;
        for (std::size_t d = 0; d < indices.size(); ++d)
          apart[d] = apart[d] && prover.same(indices[d], use(loop.var));
      });
  // Not by the last one: that loop runs along memory.
  const bool apart = std::all_of(stored.begin(), stored.end(), [&](std::uint64_t id) {
    const std::vector<bool>& by = places.at(id);
    return own.contains(id) || (!by.empty() && std::find(by.begin(), by.end() - 1, true) != by.end() - 1);
  });
  for (std::int64_t& window : windows)
    if (!known || !apart || window == -1) window = 0;
  return windows;
}

// Whether the iterations of the reader's loop are those of all chunks, so many of each.
bool covers(const Scalar& rounds, std::int64_t in_chunk, const Scalar& iterations) {
  if (in_chunk == 1 && prove_equal(rounds, iterations)) return true;
  const auto round = rounds.as_int(), all = iterations.as_int();
  return round && all && *round * in_chunk >= *all && (*round - 1) * in_chunk <= *all;
}

}  // namespace

Stmt BlockReader::statement() const {
  Stmt nest = block;
  for (std::size_t i = loops.size(); i-- > 0;) {
    For loop = *loops[i].as<For>();
    loop.body = nest;
    nest = make_stmt(std::move(loop), loops[i]->span, loops[i]->comments);
  }
  if (rounds.empty()) return nest;
  BlockStmt taken;
  taken.name = "windows";
  taken.iters = rounds;
  taken.body = nest;
  return make_stmt(std::move(taken), block->span);
}

std::optional<BlockReader> block_reader_of(const Stmt& stmt) {
  BlockReader result;
  Stmt at = stmt;
  while (const auto* loop = at.as<For>()) {
    if (loop->kind != LoopKind::Serial || loop->begin.as_int() != 0 || loop->step.defined() ||
        !loop->annotations.empty())
      return std::nullopt;
    result.loops.push_back(at);
    at = loop->body;
  }
  result.block = at;
  const auto* block = at.as<BlockStmt>();
  if (result.loops.empty() || !block || block->predicate.defined() || !block->views.empty() ||
      !block->attributes.empty())
    return std::nullopt;
  const bool plain = std::all_of(block->iters.begin(), block->iters.end(), [&](const IterVar& iter) {
    return iter.begin.as_int() == 0 && (iter.kind == IterKind::Spatial || iter.kind == IterKind::Reduce) &&
           std::any_of(result.loops.begin(), result.loops.end(), [&](const Stmt& each) {
             return iter.binding.as_var() == std::optional(each.as<For>()->var);
           });
  });
  return plain && block->iters.size() == result.loops.size() ? std::optional(result) : std::nullopt;
}

std::optional<Parting> parting_of(const For& loop, const BlockReader& reader, const Buffer& buffer,
                                  RangeProver& prover) {
  if (loop.begin.as_int() != 0 || loop.step.defined()) return std::nullopt;
  const std::vector<std::int64_t> chunks = made_chunks(loop, buffer, prover);
  if (std::all_of(chunks.begin(), chunks.end(), [](std::int64_t chunk) { return chunk == 0; }))
    return std::nullopt;
  const BlockStmt& block = *reader.block.as<BlockStmt>();
  for (std::size_t i = 0; i < reader.loops.size(); ++i) {
    const For& taken = *reader.loops[i].as<For>();
    const auto axis = std::find_if(block.iters.begin(), block.iters.end(), [&](const IterVar& iter) {
      return iter.kind == IterKind::Spatial && iter.binding.as_var() == std::optional(taken.var);
    });
    if (axis == block.iters.end() || taken.var.dtype() != loop.var.dtype() ||
        axis->var.dtype() != loop.var.dtype())
      continue;
    const std::vector<std::int64_t> windows = read_chunks(reader, i, axis->var, buffer, prover);
    for (std::size_t d = 0; d < chunks.size(); ++d) {
      if (chunks[d] == 0 || windows[d] == 0 || chunks[d] % windows[d] != 0) continue;
      if (covers(loop.extent, chunks[d] / windows[d], taken.extent))
        return Parting{d, chunks[d], i, windows[d]};
    }
  }
  return std::nullopt;
}

}  // namespace relish

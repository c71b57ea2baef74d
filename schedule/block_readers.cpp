// Finding the loop that parts what a block makes and what the reader takes of it alike, for
//
//   for i: for c, x: B[i, c, x] = ...
//   for i, c, y, k: C[i, c, y] = f(C[i, c, y], B[i, c, y * 2 + k])
//
// it is the loop over i:
//
//   for i:
//     part[C, X]
//     for c, x: part[c, x] = ...
//     for c, y, k: C[i, c, y] = f(C[i, c, y], part[c, y * 2 + k])
//
// Of chunks of rows, B[i, c, r * 8 + x] for x below 8, it is the one over r as well: windows of two rows that
// are two rows apart lie in one chunk each.
#include "schedule/block_readers.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "schedule/window_copies.h"

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

bool makes(const Stmt& stmt, const Buffer& buffer) {
  const std::vector<Access> accesses = accesses_in(stmt);
  return std::any_of(accesses.begin(), accesses.end(),
                     [&](const Access& access) { return *access.buffer == buffer; });
}

// Whether the two may run in turns: neither writes what the other accesses, but for the buffer.
bool may_run_in_turns(const Stmt& blocks, const Stmt& reader, const Buffer& buffer) {
  const std::vector<Access> first = accesses_in(blocks), second = accesses_in(reader);
  return std::none_of(first.begin(), first.end(), [&](const Access& a) {
    return std::any_of(second.begin(), second.end(), [&](const Access& b) {
      return *a.buffer == *b.buffer && (a.store || b.store) && !(*a.buffer == buffer);
    });
  });
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

// The loops of a reader and the block that they drive, each by one axis.
struct Reader {
  std::vector<IterVar> rounds;  // of the blocks' loops around it
  std::vector<Stmt> loops;      // outermost first
  Stmt block;

  Stmt statement() const {
    const Stmt nest = in_loops();
    if (rounds.empty()) return nest;
    BlockStmt taken;
    taken.name = "windows";
    taken.iters = rounds;
    taken.body = nest;
    return make_stmt(std::move(taken), block->span);
  }

 private:
  Stmt in_loops() const {
    Stmt result = block;
    for (std::size_t i = loops.size(); i-- > 0;) {
      For loop = *loops[i].as<For>();
      loop.body = result;
      result = make_stmt(std::move(loop), loops[i]->span, loops[i]->comments);
    }
    return result;
  }
};

std::optional<Reader> reader_of(const Stmt& stmt) {
  Reader result;
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

// A loop that makes chunks of one dimension of a buffer, and the loop of the reader that takes them.
struct Parting {
  std::size_t dimension = 0;
  std::int64_t chunk = 1;   // elements of the dimension in one iteration of the blocks' loop
  std::size_t loop = 0;     // of the reader
  std::int64_t window = 1;  // elements of the dimension that belong to one iteration of that
};

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
std::vector<std::int64_t> read_chunks(const Reader& reader, std::size_t position, const ScalarVar& axis,
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

std::optional<Parting> parting_of(const For& loop, const Reader& reader, const Buffer& buffer,
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

// What a block hands over: the buffer, of that dimension one chunk.
Buffer part_of(const Buffer& buffer, const Parting& parting) {
  std::vector<Scalar> shape = buffer.shape();
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(parting.dimension);
  if (parting.chunk == 1)
    shape.erase(at);
  else
    *at = int_literal(at->dtype(), parting.chunk);
  return {buffer.name(), buffer.dtype(), std::move(shape), buffer.scope(), buffer.span()};
}

// The indices in the part, where 0 stands for what moves from chunk to chunk.
std::vector<Scalar> in_part(std::vector<Scalar> indices, const Parting& parting, const ScalarMap& first) {
  const auto at = indices.begin() + static_cast<std::ptrdiff_t>(parting.dimension);
  if (parting.chunk == 1)
    indices.erase(at);
  else
    *at = without_zeros(substitute(*at, first));
  return indices;
}

std::optional<Stmt> unchanged(const Stmt&) { return std::nullopt; }

// Without what blocks say of their accesses, which are no longer those.
Stmt without_regions(const Stmt& stmt) {
  return rewrite(
      stmt, [](const Scalar&) { return std::nullopt; },
      [](const Stmt& part) -> std::optional<Stmt> {
        const auto* block = part.as<BlockStmt>();
        if (!block || (!block->reads && !block->writes)) return std::nullopt;
        BlockStmt copy = *block;
        copy.reads = copy.writes = std::nullopt;
        return make_stmt(std::move(copy), part->span, part->comments);
      });
}

// The loop's body that makes one part.
Stmt making(const For& loop, const Buffer& buffer, const Buffer& part, const Parting& parting) {
  const ScalarMap first{{loop.var.id(), int_literal(loop.var.dtype(), 0)}};
  return without_regions(rewrite(
      loop.body,
      [&](const Scalar& scalar) -> std::optional<Scalar> {
        const auto* loaded = scalar.as<Load>();
        if (!loaded || !(*loaded->buffer == buffer)) return std::nullopt;
        return load(part, in_part(loaded->indices, parting, first), scalar.span());
      },
      [&](const Stmt& stmt) -> std::optional<Stmt> {
        const auto* store = stmt.as<Store>();
        if (!store || !(store->buffer == buffer)) return std::nullopt;
        return make_stmt(Store{part, in_part(store->indices, parting, first), store->value}, stmt->span,
                         stmt->comments);
      }));
}

// The iterations of the reader that take the part of that iteration of the blocks' loop.
Reader taking(const Reader& reader, const For& blocks, const Buffer& buffer, const Buffer& part,
              const Parting& parting) {
  Reader result = reader;
  const Stmt taken = reader.loops[parting.loop];
  For loop = *taken.as<For>();
  BlockStmt block = *reader.block.as<BlockStmt>();
  const auto at = std::find_if(block.iters.begin(), block.iters.end(), [&](const IterVar& iter) {
    return iter.binding.as_var() == std::optional(loop.var);
  });
  const std::int64_t in_chunk = parting.chunk / parting.window;
  result.rounds.push_back({ScalarVar("v_" + blocks.var.name(), blocks.var.dtype(), blocks.var.span()),
                           IterKind::Spatial, blocks.begin, blocks.extent, use(blocks.var)});
  const Scalar round = use(result.rounds.back().var), size = int_literal(loop.var.dtype(), in_chunk);
  const ScalarVar axis = at->var, inside(axis.name(), axis.dtype(), axis.span());
  // Loads of the part have the place in the chunk for an index, all else that among all.
  Scalar in_part_of = int_literal(axis.dtype(), 0), among_all = round;
  if (in_chunk == 1 && prove_equal(blocks.extent, loop.extent)) {
    result.loops.erase(result.loops.begin() + static_cast<std::ptrdiff_t>(parting.loop));
    block.iters.erase(at);
  } else {
    in_part_of = use(inside);
    among_all = round * size + use(inside);
    // The last chunk may have fewer windows, or none.
    loop.extent =
        prove_equal(blocks.extent * size, loop.extent) ? size : min(size, loop.extent - round * size);
    at->var = inside;
    at->extent = size;
    result.loops[parting.loop] = make_stmt(std::move(loop), taken->span, taken->comments);
  }
  const ScalarMap first{{axis.id(), in_part_of}}, all{{axis.id(), among_all}};
  const auto from_part = [&](const Scalar& scalar) -> std::optional<Scalar> {
    const auto* loaded = scalar.as<Load>();
    if (!loaded || !(*loaded->buffer == buffer)) return std::nullopt;
    return load(part, in_part(loaded->indices, parting, first), scalar.span());
  };
  const auto placed = [&](const Stmt& stmt) {
    return stmt.defined() ? substitute(without_regions(rewrite(stmt, from_part, unchanged)), all) : stmt;
  };
  block.reads = block.writes = std::nullopt;
  block.init = placed(block.init);
  block.body = placed(block.body);
  result.block = make_stmt(std::move(block), reader.block->span, reader.block->comments);
  return result;
}

// How many bytes a buffer has; none when only the run knows.
std::optional<std::int64_t> bytes_of(const Buffer& buffer) {
  std::int64_t bytes = 0;
  const auto elements = product(buffer.shape()).as_int();
  if (!elements ||
      __builtin_mul_overflow(*elements, static_cast<std::int64_t>(size_of(buffer.dtype())), &bytes))
    return std::nullopt;
  return bytes;
}

class ReaderInBlocks {
 public:
  ReaderInBlocks(RangeProver& prover, const Target& target) : prover_(prover), target_(target) {}

  // The statement, which makes all of the buffer, with the reader in one of its loops.
  std::optional<Stmt> inside(const Stmt& stmt, const Reader& reader, const Buffer& buffer) {
    if (const auto* sequence = stmt.as<SeqStmt>()) {
      std::vector<Stmt> body = sequence->body;
      std::vector<std::size_t> makers;
      for (std::size_t i = 0; i < body.size(); ++i)
        if (makes(body[i], buffer)) makers.push_back(i);
      const auto made =
          makers.size() == 1 ? inside(body[makers.front()], reader, buffer) : std::optional<Stmt>();
      if (!made) return std::nullopt;
      body[makers.front()] = *made;
      return seq(std::move(body), stmt->span);
    }
    if (const auto* block = stmt.as<BlockStmt>()) {
      if (!block->iters.empty() || block->predicate.defined() || block->init.defined() ||
          !block->views.empty())
        return std::nullopt;
      const auto made = inside(block->body, reader, buffer);
      if (!made) return std::nullopt;
      BlockStmt copy = *block;
      copy.reads = copy.writes = std::nullopt;
      copy.body = *made;
      return make_stmt(std::move(copy), stmt->span, stmt->comments);
    }
    return stmt.as<For>() ? inside_loop(stmt, reader, buffer) : std::nullopt;
  }

 private:
  std::optional<Stmt> inside_loop(const Stmt& stmt, const Reader& reader, const Buffer& buffer) {
    For loop = *stmt.as<For>();
    const auto parting = parting_of(loop, reader, buffer, prover_);
    if (!parting) return std::nullopt;
    const Buffer part = part_of(buffer, *parting);
    const Stmt body = making(loop, buffer, part, *parting);
    const Reader rest = taking(reader, loop, buffer, part, *parting);
    const auto bytes = bytes_of(part);
    // Further inside only where a part fills the first cache: loops of few iterations are slower ones.
    std::optional<Stmt> made;
    if (!bytes || *bytes > target_.first_cache_bytes / 2) {
      prover_.enter_loop(loop.var, loop.begin, loop.extent);
      made = inside(body, rest, part);
      prover_.leave_loop();
    }
    // A loop of one iteration parts nothing.
    const bool parts = loop.extent.as_int() != 1 && bytes && *bytes <= target_.private_cache_bytes / 2;
    if (!made && !parts) return std::nullopt;
    if (made) {
      loop.body = *made;
    } else {
      BlockStmt block;
      block.name = "part";
      block.allocations = {part};
      block.body = seq({body, rest.statement()}, stmt->span);
      loop.body = make_stmt(std::move(block), stmt->span);
    }
    return make_stmt(std::move(loop), stmt->span, stmt->comments);
  }

  RangeProver& prover_;
  const Target& target_;
};

}  // namespace

std::optional<Stmt> with_reader_in_blocks(const Stmt& blocks, const Stmt& reader, const Buffer& buffer,
                                          RangeProver& prover, const Target& target) {
  const auto parts = reader_of(reader);
  if (!parts || !may_run_in_turns(blocks, reader, buffer)) return std::nullopt;
  return ReaderInBlocks(prover, target).inside(blocks, *parts, buffer);
}

}  // namespace relish

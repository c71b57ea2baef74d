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
#include "schedule/followers/block_readers.h"

#include <algorithm>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "schedule/blocks/window_copies.h"
#include "schedule/followers/block_parting.h"

namespace relish {
namespace {

bool makes(const Stmt& stmt, const Buffer& buffer) {
  const std::vector<Access> accesses = accesses_in(stmt);
  return std::any_of(accesses.begin(), accesses.end(),
                     [&](const Access& access) { return *access.buffer == buffer; });
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
BlockReader taking(const BlockReader& reader, const For& blocks, const Buffer& buffer, const Buffer& part,
                   const Parting& parting) {
  BlockReader result = reader;
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
  std::optional<Stmt> inside(const Stmt& stmt, const BlockReader& reader, const Buffer& buffer) {
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
  std::optional<Stmt> inside_loop(const Stmt& stmt, const BlockReader& reader, const Buffer& buffer) {
    For loop = *stmt.as<For>();
    const auto parting = parting_of(loop, reader, buffer, prover_);
    if (!parting) return std::nullopt;
    const Buffer part = part_of(buffer, *parting);
    const Stmt body = making(loop, buffer, part, *parting);
    const BlockReader rest = taking(reader, loop, buffer, part, *parting);
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
  const auto parts = block_reader_of(reader);
  if (!parts || !may_run_in_turns(accesses_in(blocks), accesses_in(reader), buffer)) return std::nullopt;
  return ReaderInBlocks(prover, target).inside(blocks, *parts, buffer);
}

}  // namespace relish

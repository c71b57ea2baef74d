// Joining contractions with what follows.
#include "schedule/followers/epilogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/lanes.h"
#include "loops/nest.h"
#include "loops/primitives.h"
#include "loops/work.h"
#include "schedule/contraction/contraction.h"
#include "schedule/nests/in_rows.h"
#include "schedule/remainders/remainders.h"

namespace relish {
namespace {

// A nest over the elements of buffers: its axes and what it does for each.
struct Follower {
  ScalarMap axes;  // the loop variable of each block variable
  std::vector<ScalarVar> loops;
  std::vector<Scalar> extents;
  Stmt body;
};

bool names_and_stores(const Stmt& stmt) {
  if (const auto* sequence = stmt.as<SeqStmt>())
    return std::all_of(sequence->body.begin(), sequence->body.end(), names_and_stores);
  const auto* named = stmt.as<DefineScalar>();
  return stmt.as<Store>() || (named && named->let);
}

std::optional<Follower> follower_of(const Stmt& stmt) {
  Follower result;
  Stmt at = stmt;
  while (const auto* loop = at.as<For>()) {
    if (loop->kind != LoopKind::Serial || loop->begin.as_int() != 0 || loop->step.defined() ||
        !loop->annotations.empty())
      return std::nullopt;
    result.loops.push_back(loop->var);
    result.extents.push_back(loop->extent);
    at = loop->body;
  }
  if (const auto* block = at.as<BlockStmt>()) {
    if (block->predicate.defined() || block->init.defined() || !block->allocations.empty() ||
        !block->views.empty() || !block->attributes.empty())
      return std::nullopt;
    for (const IterVar& iter : block->iters) {
      if (iter.kind != IterKind::Spatial || iter.begin.as_int() != 0) return std::nullopt;
      result.axes.emplace(iter.var.id(), iter.binding);
    }
    at = block->body;
  }
  result.body = at;
  return result.loops.empty() || !names_and_stores(at) ? std::nullopt : std::optional(result);
}

// The store that a nest is around.
const Store* store_of(const Stmt& nest) {
  const auto found = perfect_nest(nest);
  return found ? found->store : nullptr;
}

// The dimension of the result that each loop of the follower runs over. None when it does not take every
// element just once, by its own place.
std::optional<std::vector<std::size_t>> dimensions_of(const Follower& next, const Buffer& result) {
  std::optional<std::vector<Scalar>> place;
  for (const Access& access : accesses_in(next.body)) {
    if (!(*access.buffer == result)) continue;
    std::vector<Scalar> indices;
    for (const Scalar& index : *access.indices) indices.push_back(substitute(index, next.axes));
    if (access.store || (place && !same_indices(*place, indices))) return std::nullopt;
    place = std::move(indices);
  }
  if (!place) return std::nullopt;
  std::vector<std::size_t> dimensions;
  for (std::size_t i = 0; i < next.loops.size(); ++i) {
    const auto at = std::find_if(place->begin(), place->end(), [&](const Scalar& index) {
      return index.as_var() == std::optional(next.loops[i]);
    });
    if (at == place->end()) return std::nullopt;
    dimensions.push_back(static_cast<std::size_t>(at - place->begin()));
    if (!prove_equal(next.extents[i], result.shape()[dimensions.back()])) return std::nullopt;
  }
  for (std::size_t d = 0; d < place->size(); ++d)
    if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end() &&
        ((*place)[d].as_int() != 0 || result.shape()[d].as_int() != 1))
      return std::nullopt;
  return dimensions;
}

// The loops in the order in which the index moves with them, the fastest last: of the sum of one and others
// times numbers, each of which goes past all that stands behind it, as where dimensions are joined. None for
// other indices.
std::optional<std::vector<std::size_t>> loops_of_index(const Scalar& index, const Follower& next) {
  std::vector<std::size_t> loops;
  std::int64_t behind = 1;  // elements that the loops behind go over
  Scalar rest = index;
  while (!rest.as_int()) {
    std::size_t found = next.loops.size();
    for (std::size_t i = 0; i < next.loops.size() && found == next.loops.size(); ++i) {
      const ScalarVar& var = next.loops[i];
      std::vector<ScalarVar> vars;
      collect_vars(rest, vars);
      if (std::find(vars.begin(), vars.end(), var) == vars.end() || var.dtype() != rest.dtype()) continue;
      const Scalar further = substitute(rest, {{var.id(), use(var) + int_literal(var.dtype(), 1)}});
      if (prove_equal(further, rest + int_literal(rest.dtype(), behind))) found = i;
    }
    if (found == next.loops.size()) return std::nullopt;
    loops.insert(loops.begin(), found);
    rest = canonical(substitute(rest, {{next.loops[found].id(), int_literal(rest.dtype(), 0)}}));
    if (rest.as_int()) break;
    const auto extent = next.extents[found].as_int();
    if (!extent || __builtin_mul_overflow(behind, *extent, &behind)) return std::nullopt;
  }
  return loops;
}

// The dimensions of the result in the order in which the follower stores its elements; none when that is
// their own, or not the same for all that is stored.
std::vector<std::size_t> order_of_stores(const Follower& next, const std::vector<std::size_t>& dimensions,
                                         const Buffer& result) {
  std::optional<std::vector<std::size_t>> order;
  for (const Access& access : accesses_in(next.body)) {
    if (!access.store) continue;
    std::vector<std::size_t> stored;
    for (const Scalar& each : *access.indices) {
      const auto loops = loops_of_index(substitute(each, next.axes), next);
      if (!loops) return {};
      for (const std::size_t loop : *loops) stored.push_back(dimensions[loop]);
    }
    if (order && *order != stored) return {};
    order = std::move(stored);
  }
  if (!order || std::is_sorted(order->begin(), order->end())) return {};
  // Dimensions of one element stand nowhere in the way.
  for (std::size_t d = result.shape().size(); d-- > 0;)
    if (std::find(order->begin(), order->end(), d) == order->end()) order->insert(order->begin(), d);
  return order->size() == result.shape().size() ? *order : std::vector<std::size_t>();
}

// More operations than that take longer than the copy of a tile's sums that they would spare.
constexpr std::int64_t most_nodes_on_tiles = 80;

// Whether vectors compute what follows an element and its neighbours along memory, so that it may be done on
// a tile in registers.
bool fits_tiles(const Follower& next, const std::vector<std::size_t>& dimensions, std::size_t last_stored) {
  const auto lines = lines_of(next.body);
  if (!lines || !all_in_lanes(*lines)) return false;
  std::int64_t nodes = 0;
  bool by_formula = false;  // whose steps need the registers that the tile has
  for (const Stmt& line : *lines) {
    const auto* store = line.as<Store>();
    for_each_scalar(store ? store->value : line.as<DefineScalar>()->value, [&](const Scalar& part) {
      ++nodes;
      const auto* called = part.as<IntrinsicCall>();
      by_formula = by_formula || (called && info_of(called->intrinsic).lanes != IntrinsicLanes::Instruction);
    });
  }
  if (nodes > most_nodes_on_tiles || by_formula) return false;
  // The loop over that dimension of the result runs along what is stored.
  const auto last = std::find(dimensions.begin(), dimensions.end(), last_stored);
  if (last == dimensions.end()) return false;
  const ScalarVar& along = next.loops[static_cast<std::size_t>(last - dimensions.begin())];
  return std::all_of(lines->begin(), lines->end(), [&](const Stmt& line) {
    const auto* store = line.as<Store>();
    if (!store) return true;
    for (std::size_t d = 0; d < store->indices.size(); ++d) {
      const Scalar index = substitute(store->indices[d], next.axes);
      std::vector<ScalarVar> vars;
      collect_vars(index, vars);
      const bool moves = std::find(vars.begin(), vars.end(), along) != vars.end();
      const bool is_last = d + 1 == store->indices.size();
      if (!is_last && moves) return false;
      if (!is_last) continue;
      const auto loops = loops_of_index(index, next);
      if (!loops || loops->empty() || !(next.loops[loops->back()] == along)) return false;
    }
    return !store->indices.empty();
  });
}

// What the follower reads at the place of each element, along memory as what is stored: other tensors of the
// result's size, which no cache need hold.
std::vector<const Load*> read_by_element(const Follower& next, const std::vector<std::size_t>& dimensions,
                                         std::size_t last_stored, const Buffer& result) {
  std::vector<const Load*> found;
  const auto last = std::find(dimensions.begin(), dimensions.end(), last_stored);
  if (last == dimensions.end() || next.loops.size() < 2) return found;
  const ScalarVar& along = next.loops[static_cast<std::size_t>(last - dimensions.begin())];
  const auto add = [&](const Scalar& part) {
    const auto* loaded = part.as<Load>();
    if (!loaded || *loaded->buffer == result || size_of(loaded->buffer->dtype()) != size_of(result.dtype()))
      return;
    std::vector<ScalarVar> vars;
    for (const Scalar& index : loaded->indices) collect_vars(substitute(index, next.axes), vars);
    const bool moves = std::all_of(next.loops.begin(), next.loops.end(), [&](const ScalarVar& loop) {
      return std::find(vars.begin(), vars.end(), loop) != vars.end();
    });
    const Scalar& last_index = loaded->indices[dimension_along_memory(*loaded->buffer)];
    if (!moves || substitute(last_index, next.axes).as_var() != std::optional(along)) return;
    const bool known = std::any_of(found.begin(), found.end(), [&](const Load* other) {
      return *other->buffer == *loaded->buffer && same_indices(other->indices, loaded->indices);
    });
    if (!known) found.push_back(loaded);
  };
  const auto lines = lines_of(next.body);
  if (!lines) return found;
  for (const Stmt& line : *lines)
    for_each_scalar(line.as<Store>() ? line.as<Store>()->value : line.as<DefineScalar>()->value, add);
  return found;
}

// A nest and the one behind it that goes over all of its result.
struct Joint {
  Buffer result;
  Follower follower;
  std::vector<std::size_t> dimensions;  // of the result, by loop of the follower
  std::vector<const Load*> read;        // by the follower, at each element
  Behind behind;                        // what the contraction has to know of the follower
};

// `kept`: the result is stored too, in its own order.
std::optional<Joint> joint_of(const Stmt& nest, const Stmt& next, bool kept, RangeProver& prover) {
  const Store* made = store_of(nest);
  auto follower = made ? follower_of(next) : std::nullopt;
  if (!follower || !may_run_in_turns(accesses_in(nest), accesses_in(follower->body), made->buffer))
    return std::nullopt;
  auto dimensions = dimensions_of(*follower, made->buffer);
  // One nest for each remainder sums only what counts, which is worth more than a result that is not stored.
  if (!dimensions || split_by_remainders(nest, prover)) return std::nullopt;
  Behind behind;
  if (!kept) behind.order = order_of_stores(*follower, *dimensions, made->buffer);
  const std::size_t last = behind.order.empty() ? made->buffer.shape().size() - 1 : behind.order.back();
  behind.by_vectors = fits_tiles(*follower, *dimensions, last);
  std::vector<const Load*> read = read_by_element(*follower, *dimensions, last, made->buffer);
  behind.reads_elements = !read.empty();
  return Joint{made->buffer, std::move(*follower), std::move(*dimensions), std::move(read),
               std::move(behind)};
}

// The place of the result that a tile asks for while it is summed.
const Load* asked_for(const Stmt& stmt, const Buffer& result) {
  const auto* evaluated = stmt.as<Evaluate>();
  const auto* place = evaluated ? evaluated->value.as<Load>() : nullptr;
  return place && *place->buffer == result ? place : nullptr;
}

}  // namespace

std::string text_by_places(const Stmt& nest) {
  BufferMap places;
  for (const Access& access : accesses_in(nest)) {
    const Buffer& buffer = *access.buffer;
    places.try_emplace(buffer.id(), Buffer(fmt::format("b{}", places.size()), buffer.dtype(), buffer.shape(),
                                           buffer.scope(), buffer.span()));
  }
  return print(substitute(nest, {}, places));
}

bool takes_epilogue(const Stmt& nest, const Stmt& next, RangeProver& prover, ReadyContractions& known) {
  const auto joint = joint_of(nest, next, false, prover);
  if (!joint) return false;
  const Behind& behind = joint->behind;
  const auto [answer, fresh] =
      known.try_emplace(fmt::format("{} {} {}\n{}", behind.by_vectors, behind.reads_elements,
                                    fmt::join(behind.order, " "), text_by_places(nest)));
  if (!fresh) return answer->second;
  const auto contracted = contract(nest, prover, {}, behind);
  if (!contracted) return false;
  const Stmt stored = rewrite(
      contracted->blocks, [](const Scalar&) { return std::nullopt; },
      [&](const Stmt& stmt) -> std::optional<Stmt> {
        return asked_for(stmt, joint->result) ? std::optional(seq({}, stmt->span)) : std::nullopt;
      });
  answer->second = !loads_from(stored, joint->result);
  return answer->second;
}

std::optional<Stmt> contract_with_epilogue(const Stmt& nest, const Stmt& next, bool kept, RangeProver& prover,
                                           const Target& target, Accumulators& accumulators) {
  const auto joint = joint_of(nest, next, kept, prover);
  const auto contracted = joint ? contract(nest, prover, target, joint->behind) : std::nullopt;
  if (!contracted) return std::nullopt;
  const Buffer& result = joint->result;

  // The follower's axes at an element of the result.
  const auto axes_at = [&](const std::vector<Scalar>& indices) {
    ScalarMap places;
    const Follower& follower = joint->follower;
    for (std::size_t i = 0; i < follower.loops.size(); ++i)
      places.emplace(follower.loops[i].id(), cast(follower.loops[i].dtype(), indices[joint->dimensions[i]]));
    ScalarMap axes = places;
    for (const auto& [id, binding] : follower.axes) axes.insert_or_assign(id, substitute(binding, places));
    return axes;
  };
  const auto behind = [&](const Stmt& stmt) -> std::optional<Stmt> {
    if (const Load* place = asked_for(stmt, result)) {
      const ScalarMap axes = axes_at(place->indices);
      std::vector<Stmt> asked;
      for (const Load* loaded : joint->read) {
        std::vector<Scalar> at;
        for (const Scalar& index : loaded->indices) at.push_back(substitute(index, axes));
        asked.push_back(make_stmt(Evaluate{load(*loaded->buffer, std::move(at))}, stmt->span));
      }
      return seq(std::move(asked), stmt->span);
    }
    const auto* store = stmt.as<Store>();
    if (!store || !(store->buffer == result)) return std::nullopt;
    const ScalarVar ready(result.name(), result.dtype(), stmt->span);
    std::vector<Stmt> body{make_stmt(DefineScalar{ready, store->value, true}, stmt->span)};
    if (kept) body.push_back(make_stmt(Store{result, store->indices, use(ready)}, stmt->span));
    const Stmt by_name = rewrite(
        joint->follower.body,
        [&](const Scalar& part) -> std::optional<Scalar> {
          const auto* loaded = part.as<Load>();
          return loaded && *loaded->buffer == result ? std::optional(use(ready, part.span())) : std::nullopt;
        },
        [](const Stmt&) { return std::nullopt; });
    body.push_back(fresh_copy(by_name, axes_at(store->indices)));
    return seq(std::move(body), stmt->span);
  };
  const Stmt blocks = rewrite(contracted->blocks, [](const Scalar&) { return std::nullopt; }, behind);
  // A result that is read back stays apart from what follows: it holds parts of sums.
  if (loads_from(blocks, result)) return std::nullopt;
  if (!contracted->few.defined()) return blocks;
  // Few rows have no tiles: all of them, then what follows.
  const Stmt rows = in_rows(fresh_copy(nest), prover, target, accumulators);
  Stmt few = seq({rows, fresh_copy(next)}, nest->span);
  if (!kept) {
    BlockStmt block;
    block.name = "few";
    block.allocations = {result};
    block.body = few;
    few = make_stmt(std::move(block), nest->span);
  }
  return make_stmt(IfStmt{contracted->few, few, blocks}, nest->span);
}

}  // namespace relish

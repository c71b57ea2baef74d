// Reordering of loop nests.
#include "schedule/nests/arrange.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "loops/accesses.h"
#include "loops/nest.h"
#include "loops/primitives.h"
#include "loops/reduction.h"
#include "schedule/nests/row_sums.h"

namespace relish {
namespace {

// Whether an access moves by a few elements, so that vectors of memory hold several of them.
bool moves_little(const Access& access, const ScalarVar& var, RangeProver& prover) {
  constexpr std::int64_t few = 8;
  if (!access.buffer->strides().empty()) return false;
  for (std::size_t d = 0; d < access.indices->size(); ++d) {
    const auto stride = prover.stride((*access.indices)[d], var);
    const auto by = stride ? stride->constant() : std::nullopt;
    const bool last = d + 1 == access.indices->size();
    if (!by || (last ? *by < 1 || *by > few : *by != 0)) return false;
  }
  return true;
}

// Memory and latency cost of having `axis` innermost, in arbitrary units an iteration.
double innermost_cost(const Axis& axis, const Nest& nest, RangeProver& prover) {
  std::vector<Access> accesses{{&nest.store->buffer, &nest.store->indices, true}};
  collect_loads(nest.store->value, accesses);
  double cost = 0;
  for (const Access& access : accesses) {
    switch (pace_of(*access.buffer, *access.indices, axis.loop->var, prover)) {
      case Pace::Still:
        break;
      case Pace::Along:
        cost += 1;
        break;
      case Pace::Across:
        cost += moves_little(access, axis.loop->var, prover) ? 4 : 8;
        break;
    }
  }
  if (!axis.stored) cost += reassociable(*nest.store) ? 1.5 : 6;
  if (const auto extent = axis.loop->extent.as_int(); extent && *extent < 4) cost += 6;
  return cost;
}

// The loops around the body, outermost first. In another place a loop is not shown to be parallel or
// vectorized any more; which ones run at once is marked when all are in order.
Stmt wrap(const std::vector<const Axis*>& loops, Stmt body) {
  for (std::size_t i = loops.size(); i-- > 0;) {
    For loop = *loops[i]->loop;
    if (loop.kind == LoopKind::Parallel || loop.kind == LoopKind::Vectorized) loop.kind = LoopKind::Serial;
    loop.body = body;
    body = make_stmt(std::move(loop), loops[i]->span);
  }
  return body;
}

// `body` behind the init of the nest's block, when it has one.
Stmt with_init(const Nest& nest, const Store* init, const std::vector<const Axis*>& loops, const Stmt& body,
               Span span) {
  if (!init) return body;
  BlockStmt first;
  first.name = nest.block->name + "_init";
  for (const IterVar& iter : nest.block->iters)
    if (iter.kind != IterKind::Reduce) first.iters.push_back(iter);
  first.body = nest.block->init;
  return seq({fresh_copy(wrap(loops, make_stmt(std::move(first), nest.block_stmt->span))), body}, span);
}

// Iterations of a reduce loop in one sweep of the loop inside it.
constexpr std::int64_t swept_iterations = 4;

// Terms that may be summed one after the other into one number. Along memory the vectorizer sums in 32 lanes.
constexpr std::int64_t terms_in_sequence = 1024;
constexpr std::int64_t terms_along_memory = 32 * terms_in_sequence;

// Whether the reduce loops run over more terms than that, or over an unknown number.
bool many_terms(const std::vector<const Axis*>& reduce) {
  std::int64_t terms = 1;
  for (const Axis* axis : reduce) {
    const auto extent = axis->loop->extent.as_int();
    if (!extent || __builtin_mul_overflow(terms, *extent, &terms) || terms > terms_in_sequence) return true;
  }
  return false;
}

// A number that the extent does not exceed, as that of a block of a loop that is cut already.
std::optional<std::int64_t> known_most(const Scalar& extent) {
  const auto* least = extent.as<Binary>();
  if (!least || least->op != BinaryOp::Min) return extent.as_int();
  const auto a = known_most(least->a), b = known_most(least->b);
  return a && b ? std::min(*a, *b) : a ? a : b;
}

// In how large blocks the iterations of the last reduce loop are summed; 0: all in one.
std::int64_t block_of(const Axis& last_reduce, bool along_memory) {
  const std::int64_t block = along_memory ? terms_along_memory : terms_in_sequence;
  const auto extent = known_most(last_reduce.loop->extent);
  return !extent || *extent > block ? block : 0;
}

// Whether what is added does not itself read the sum.
bool independent_addend(const Nest& nest, const Update& update) {
  std::vector<Access> loads;
  collect_loads(update.addend, loads);
  return std::none_of(loads.begin(), loads.end(),
                      [&](const Access& load) { return *load.buffer == nest.store->buffer; });
}

// Of a row that all iterations of a nest sum to, threads take parts of so many elements at least, which is
// half of a page of memory, where so many terms are summed together.
constexpr std::int64_t least_row_part = 512, least_terms_in_parts = std::int64_t{1} << 18;

// How long parts of the row are; 0: it stays whole.
std::int64_t part_of_row(const Axis& row, const std::vector<const Axis*>& reduce, const Nest& nest) {
  const auto extent = row.loop->extent.as_int();
  std::int64_t terms = extent.value_or(0);
  for (const Axis* axis : reduce)
    if (__builtin_mul_overflow(terms, axis->loop->extent.as_int().value_or(1), &terms)) terms = INT64_MAX;
  const bool plain = row.loop->begin.as_int() == 0 && !row.loop->step.defined();
  if (!extent || !plain || terms < least_terms_in_parts) return 0;
  const auto least = least_row_part * 4 / static_cast<std::int64_t>(size_of(nest.store->buffer.dtype()));
  for (std::int64_t part = std::max<std::int64_t>(least, 1); part * 2 <= *extent; ++part)
    if (*extent % part == 0) return part;
  return 0;
}

// A nest in a part of its row, and the loop over the parts around what it stands in.
struct RowPart {
  RowPart(Nest& nest, const Axis& row, std::int64_t size) : loop(*row.loop) {
    const For& around = *row.loop;
    const DType index = around.var.dtype();
    parts.var = ScalarVar(around.var.name() + "_0", index, row.span);
    parts.extent = int_literal(index, *around.extent.as_int() / size);
    loop.var = ScalarVar(around.var.name() + "_1", index, row.span);
    loop.extent = int_literal(index, size);
    before = use(parts.var) * int_literal(index, size);
    whole = around.extent;
    span = row.span;
    const ScalarMap places{{around.var.id(), before + use(loop.var)}};
    for (Axis& axis : nest.axes) {
      if (axis.loop != &around) continue;
      if (axis.var == around.var) axis.var = loop.var;
      axis.loop = &loop;
    }
    nest.store_stmt = substitute(nest.store_stmt, places);
    nest.store = nest.store_stmt.as<Store>();
    if (!nest.block) return;
    nest.block_stmt = substitute(nest.block_stmt, places);
    nest.block = nest.block_stmt.as<BlockStmt>();
    for (Axis& axis : nest.axes)
      for (const IterVar& iter : nest.block->iters)
        if (iter.var == axis.var) axis.iter = &iter;
  }
  RowPart(const RowPart&) = delete;

  Stmt around(const Stmt& body) const {
    return make_stmt(
        For{parts.var, int_literal(loop.var.dtype(), 0), parts.extent, LoopKind::Serial, body, {}}, span);
  }

  For loop;
  struct {
    ScalarVar var;
    Scalar extent;
  } parts;
  Scalar before;  // how many elements lie before the part
  Scalar whole;   // how many the row has
  Span span;
};

// The loop, whose extent says that it runs no iteration where that is a negative number.
For counted_up(For loop, RangeProver& prover) {
  if (!loop.extent.as_int() && !prover.nonnegative(loop.extent))
    loop.extent = max(loop.extent, int_literal(loop.extent.dtype(), 0));
  return loop;
}

// The nest of the `reduce` loops, outermost first, and of the loop over the last stored axis where `row` is
// one: each loop adds up what lies inside it in an accumulator of its own (a row of them) and joins that to
// the next one outside, the last to the store's element. So rounding errors grow with the sum of the extents,
// not with their product; a last loop of many iterations is summed in blocks for the same reason.
// `part`: of the row, where the loop runs over one; accumulators are as long as the whole row.
Stmt with_accumulators(const Nest& nest, const Update& update, const std::vector<const Axis*>& reduce,
                       const Axis* row, const RowPart* part, RangeProver& prover,
                       Accumulators& accumulators) {
  const DType dtype = nest.store->buffer.dtype();
  const Span span = nest.store_stmt->span;
  std::vector<Scalar> shape, place, place_in_block;
  std::vector<const Axis*> row_loop;
  if (row) {
    shape = {part ? part->whole : row->loop->extent};
    place = {part ? part->before + Scalar(row->loop->var) : Scalar(row->loop->var)};
    place_in_block = row->var == row->loop->var ? place : std::vector{Scalar(row->var)};
    row_loop = {row};
  }
  const auto joined = [&](const Buffer& buffer, const std::vector<Scalar>& indices, const Scalar& value) {
    return make_stmt(Store{buffer, indices, binary(update.op, load(buffer, indices), value)}, span);
  };
  // The store's block with another body; without the reduce variables when the body stands outside of their
  // loops.
  const auto in_block = [&](Stmt body, bool reduces) {
    if (!nest.block) return body;
    BlockStmt block = *nest.block;
    block.init = {};
    block.reads = block.writes = std::nullopt;
    if (!reduces) {
      block.iters.clear();
      for (const Axis& axis : nest.axes)
        if (axis.stored) block.iters.push_back(*axis.iter);
    }
    block.body = std::move(body);
    return make_stmt(std::move(block), nest.block_stmt->span);
  };
  std::vector<Buffer> sums;
  // An accumulator between two levels; the outermost target is the store's element.
  const auto new_sum = [&] {
    sums.emplace_back(fmt::format("sum_{}", sums.size()), dtype, shape, row ? "global" : "local");
    accumulators.insert(sums.back().id());
    return sums.size();  // targets: 0 for the element, else one more than the position
  };
  // The accumulator is cleared before what it sums and joined to the next one outside behind it.
  const auto with_sum = [&](std::size_t sum, std::size_t target, const Stmt& inside) {
    const Scalar neutral = float_literal(dtype, update.op == BinaryOp::Add ? -0.0 : 1.0);
    const Stmt clear = fresh_copy(wrap(row_loop, make_stmt(Store{sums[sum - 1], place, neutral}, span)));
    const auto to_element = [&] {
      const Scalar value = load(sums[sum - 1], place_in_block);
      return in_block(joined(nest.store->buffer, nest.store->indices, value), false);
    };
    const Stmt join = fresh_copy(wrap(
        row_loop, target > 0 ? joined(sums[target - 1], place, load(sums[sum - 1], place)) : to_element()));
    return seq({clear, inside, join}, span);
  };
  // Loop k with all that lies inside it, added to the target.
  const std::function<Stmt(std::size_t, std::size_t)> level = [&](std::size_t k, std::size_t target) {
    const bool innermost = k + 1 == reduce.size();
    const For& loop = *reduce[k]->loop;
    const std::int64_t block = block_of(*reduce[k], innermost && !row);
    const std::size_t own = block ? new_sum() : target;
    Stmt body;
    if (innermost) {
      RELISH_CHECK(own > 0, "a sum in one piece has no accumulators");
      body = wrap(row_loop, in_block(joined(sums[own - 1], place_in_block, update.addend), true));
    } else {
      const std::size_t inner = new_sum();
      body = with_sum(inner, own, level(k + 1, inner));
    }
    For around = loop;
    around.body = body;
    const auto swept = [&](const For& each) {
      return innermost && row ? unroll_and_jam(each, reduce[k]->span, swept_iterations)
                              : make_stmt(each, reduce[k]->span);
    };
    if (!block) return swept(counted_up(around, prover));
    return split(around, reduce[k]->span, block,
                 [&](const For& part) { return with_sum(own, target, swept(part)); });
  };
  Stmt body = level(0, 0);
  BlockStmt whole;
  whole.name = "sums";
  whole.allocations = std::move(sums);
  whole.body = std::move(body);
  return make_stmt(std::move(whole), span);
}

// The sums of a short row around the loops over their terms.
Stmt sums_around(const std::vector<const Axis*>& terms, RowSums row, Span span) {
  BlockStmt whole;
  whole.name = "row";
  whole.allocations = {row.sums};
  whole.body = seq({row.begin, wrap(terms, row.term), row.end}, span);
  return make_stmt(std::move(whole), span);
}

// A sum of one element of a loop around: what it begins with before the loop, in which one store remains.
Stmt init_apart(const Nest& nest, const Stmt& stmt) {
  const Axis& axis = nest.axes.front();
  if (nest.axes.size() != 1 || !nest.block || !nest.block->init.defined() ||
      axis.iter->kind != IterKind::Reduce || axis.loop->kind != LoopKind::Serial ||
      !axis.loop->annotations.empty() || axis.loop->extent.as_int().value_or(0) <= 0)
    return stmt;
  BlockStmt first;
  first.name = nest.block->name + "_init";
  first.body = nest.block->init;
  BlockStmt update = *nest.block;
  update.init = {};
  update.reads = update.writes = std::nullopt;
  For loop = *axis.loop;
  loop.body = make_stmt(std::move(update), nest.block_stmt->span);
  return seq({fresh_copy(make_stmt(std::move(first), nest.block_stmt->span)),
              make_stmt(std::move(loop), stmt->span)},
             stmt->span);
}

}  // namespace

Stmt arrange(const Stmt& stmt, RangeProver& prover, const Target& target, Accumulators& accumulators) {
  auto found = perfect_nest(stmt);
  if (!found) return stmt;
  if (!find_stored_axes(*found, true, true)) return init_apart(*found, stmt);
  Nest& nest = *found;
  for (const Axis& axis : nest.axes)
    if (axis.loop->kind == LoopKind::Unrolled || axis.loop->kind == LoopKind::Vectorized) return stmt;
  const bool has_reduce =
      std::any_of(nest.axes.begin(), nest.axes.end(), [](const Axis& a) { return !a.stored; });
  if (!has_reduce) return stmt;
  const bool starts = nest.block && nest.block->init.defined();
  const Store* init = starts ? matching_init(nest) : nullptr;
  if (starts && !init) return stmt;

  // A guarded sum keeps its order: the reference adds one term after the other.
  const auto update = as_update(*nest.store);
  const auto* guarded = update ? update->addend.as<Select>() : nullptr;
  if (guarded && guarded->lazy) return stmt;

  // Loads of the target only at the stored element, and bounds of loops that are the same in any order.
  std::vector<Access> loads;
  collect_loads(nest.store->value, loads);
  for (const Access& load : loads)
    if (*load.buffer == nest.store->buffer && !same_indices(*load.indices, nest.store->indices)) return stmt;
  for (const Axis& axis : nest.axes)
    for (const Axis& other : nest.axes)
      if (prover.depends_on(axis.loop->extent, other.loop->var)) return stmt;

  enter(nest, prover);
  const bool faults = may_fault(nest, init, prover);
  const Axis* last_reduce = nullptr;
  for (const Axis& axis : nest.axes)
    if (!axis.stored) last_reduce = &axis;
  const Axis* innermost = &nest.axes.back();
  double best = 1e30;
  for (std::size_t i = nest.axes.size(); i-- > 0 && !faults;) {
    const Axis& axis = nest.axes[i];
    if (!axis.stored && &axis != last_reduce) continue;  // the order of the reduce loops stays
    const double cost = innermost_cost(axis, nest, prover);
    if (cost < best) {
      best = cost;
      innermost = &axis;
    }
  }
  leave(nest, prover);
  if (faults) return stmt;

  std::vector<const Axis*> outer, update_loops, init_loops;
  for (const Axis& axis : nest.axes)
    if (axis.stored && &axis != innermost) outer.push_back(&axis);
  for (const Axis& axis : nest.axes)
    if (!axis.stored && &axis != innermost) update_loops.push_back(&axis);
  if (innermost->stored) init_loops.push_back(innermost);

  std::vector<const Axis*> reduce = update_loops;
  if (!innermost->stored) reduce.push_back(innermost);
  std::optional<RowPart> part;
  const std::int64_t size = outer.empty() && innermost->stored ? part_of_row(*innermost, reduce, nest) : 0;
  if (size > 0) part.emplace(nest, *innermost, size);
  if (size > 0 && init) init = matching_init(nest);
  const auto in_parts = [&](const Stmt& whole) { return part ? part->around(whole) : whole; };
  const std::optional<Update> joins = as_update(*nest.store);
  const bool splits = joins && is_float(nest.store->buffer.dtype()) && reassociable(*nest.store) &&
                      independent_addend(nest, *joins);
  const bool levels = !accumulators.contains(nest.store->buffer.id()) &&
                      (reduce.size() > 1 || block_of(*reduce.back(), !innermost->stored) > 0);
  if (splits && levels && many_terms(reduce)) {
    const Stmt sums = with_accumulators(nest, *joins, reduce, innermost->stored ? innermost : nullptr,
                                        part ? &*part : nullptr, prover, accumulators);
    return in_parts(wrap(outer, with_init(nest, init, init_loops, sums, stmt->span)));
  }

  if (innermost->stored && joins && !part && !update_loops.empty()) {
    if (auto kept = sums_in_registers(nest, *joins, init, *innermost, target, prover))
      return wrap(outer, sums_around(update_loops, std::move(*kept), stmt->span));
  }

  Stmt body = nest.store_stmt;
  if (nest.block) {
    BlockStmt update = *nest.block;
    update.init = {};
    update.reads = update.writes = std::nullopt;  // with an init they leave out what is updated
    body = make_stmt(std::move(update), nest.block_stmt->span);
  }
  body = wrap({innermost}, body);
  if (innermost->stored && as_update(*nest.store) && !update_loops.empty()) {
    For swept = *update_loops.back()->loop;
    swept.body = body;
    body = unroll_and_jam(counted_up(std::move(swept), prover), update_loops.back()->span, swept_iterations);
    update_loops.pop_back();
  }
  body = wrap(update_loops, body);
  return in_parts(wrap(outer, with_init(nest, init, init_loops, body, stmt->span)));
}

}  // namespace relish

// Analysis and reordering of loop nests.
#include "jit/nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "jit/nest_parts.h"

namespace relish::jit {
namespace {

enum class Walk { Fixed, Contiguous, Strided };

Walk walk_of(const Access& access, const ScalarVar& loop_var, RangeProver& prover) {
  Walk walk = Walk::Fixed;
  for (std::size_t d = 0; d < access.indices->size(); ++d) {
    const auto stride = prover.stride((*access.indices)[d], loop_var);
    if (!stride) return Walk::Strided;
    if (stride->is_zero()) continue;
    if (d + 1 != access.indices->size() || stride->constant() != 1) return Walk::Strided;
    walk = Walk::Contiguous;
  }
  return walk;
}

bool reassociable(const Store& store) {
  const auto update = as_update(store);
  if (!update) return false;
  if (!is_float(store.buffer.dtype())) return true;
  const bool wide = store.buffer.dtype() == DType::Float32 || store.buffer.dtype() == DType::Float64;
  return wide && (update->op == BinaryOp::Add || update->op == BinaryOp::Mul);
}

// Memory and latency cost of having `axis` innermost, in arbitrary units an iteration.
double innermost_cost(const Axis& axis, const Nest& nest, RangeProver& prover) {
  std::vector<Access> accesses{{&nest.store->buffer, &nest.store->indices, true}};
  collect_loads(nest.store->value, accesses);
  double cost = 0;
  for (const Access& access : accesses) {
    switch (walk_of(access, axis.loop->var, prover)) {
      case Walk::Fixed:
        break;
      case Walk::Contiguous:
        cost += 1;
        break;
      case Walk::Strided:
        cost += 8;
        break;
    }
  }
  if (!axis.stored) cost += reassociable(*nest.store) ? 1.5 : 6;
  if (const auto extent = axis.loop->extent.as_int(); extent && *extent < 4) cost += 6;
  return cost;
}

Stmt wrap(const std::vector<const Axis*>& loops, Stmt body) {
  for (std::size_t i = loops.size(); i-- > 0;) {
    const For& loop = *loops[i]->loop;
    body =
        make_stmt(For{loop.var, loop.begin, loop.extent, loop.kind, body, loop.annotations}, loops[i]->span);
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
  return seq({wrap(loops, make_stmt(std::move(first), nest.block_stmt->span)), body}, span);
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

// In how large blocks the iterations of the last reduce loop are summed; 0: all in one.
std::int64_t block_of(const Axis& last_reduce, bool along_memory) {
  const std::int64_t block = along_memory ? terms_along_memory : terms_in_sequence;
  const auto extent = last_reduce.loop->extent.as_int();
  return !extent || *extent > block ? block : 0;
}

// Whether what is added does not itself read the sum.
bool independent_addend(const Nest& nest, const Update& update) {
  std::vector<Access> loads;
  collect_loads(update.addend, loads);
  return std::none_of(loads.begin(), loads.end(),
                      [&](const Access& load) { return *load.buffer == nest.store->buffer; });
}

// The nest of the `reduce` loops, outermost first, and of the loop over the last stored axis where `row` is
// one: each loop adds up what lies inside it in an accumulator of its own (a row of them) and joins that to
// the next one outside, the last to the store's element. So rounding errors grow with the sum of the extents,
// not with their product; a last loop of many iterations is summed in blocks for the same reason.
Stmt with_accumulators(const Nest& nest, const Update& update, const std::vector<const Axis*>& reduce,
                       const Axis* row, LoopWalks& walks) {
  const DType dtype = nest.store->buffer.dtype();
  const Span span = nest.store_stmt->span;
  std::vector<Scalar> shape, place;
  std::vector<const Axis*> row_loop;
  if (row) {
    shape = {row->loop->extent};
    place = {Scalar(row->loop->var)};
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
    return sums.size();  // targets: 0 for the element, else one more than the position
  };
  // The accumulator is cleared before what it sums and joined to the next one outside behind it.
  const auto with_sum = [&](std::size_t sum, std::size_t target, const Stmt& inside) {
    const Scalar neutral = float_literal(dtype, update.op == BinaryOp::Add ? -0.0 : 1.0);
    const Stmt clear = wrap(row_loop, make_stmt(Store{sums[sum - 1], place, neutral}, span));
    const Scalar value = load(sums[sum - 1], place);
    const Stmt join =
        wrap(row_loop, target > 0 ? joined(sums[target - 1], place, value)
                                  : in_block(joined(nest.store->buffer, nest.store->indices, value), false));
    return make_stmt(SeqStmt{{clear, inside, join}}, span);
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
      body = wrap(row_loop, in_block(joined(sums[own - 1], place, update.addend), true));
    } else {
      const std::size_t inner = new_sum();
      body = with_sum(inner, own, level(k + 1, inner));
    }
    LoopWalk& walk = walks[loop.var.id()];
    if (innermost && row) walk.sweep = swept_iterations;
    if (block) {
      walk.block = block;
      body = with_sum(own, target, body);
    }
    return make_stmt(For{loop.var, loop.begin, loop.extent, loop.kind, body, loop.annotations},
                     reduce[k]->span);
  };
  Stmt body = level(0, 0);
  BlockStmt whole;
  whole.name = "sums";
  whole.allocations = std::move(sums);
  whole.body = std::move(body);
  return make_stmt(std::move(whole), span);
}

}  // namespace

std::optional<Update> as_update(const Store& store) {
  const auto* value = store.value.as<Binary>();
  if (!value) return std::nullopt;
  switch (value->op) {
    case BinaryOp::Add:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
      break;
    default:
      return std::nullopt;
  }
  const auto is_target = [&](const Scalar& side) {
    const auto* load = side.as<Load>();
    return load && *load->buffer == store.buffer && same_indices(load->indices, store.indices);
  };
  if (is_target(value->a)) return Update{value->op, value->a, value->b};
  if (is_target(value->b)) return Update{value->op, value->b, value->a};
  return std::nullopt;
}

bool can_fault(const Scalar& value, RangeProver& prover) {
  if (const auto* load = value.as<Load>()) {
    for (std::size_t d = 0; d < load->indices.size(); ++d)
      if (!prover.in_range(load->indices[d], load->buffer->shape()[d])) return true;
  }
  if (const auto* node = value.as<Binary>(); node && !is_float(value.dtype())) {
    switch (node->op) {
      case BinaryOp::Div:
      case BinaryOp::TruncMod:
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod:
        if (node->b.as_int().value_or(0) == 0) return true;
        break;
      case BinaryOp::ShiftLeft:
      case BinaryOp::ShiftRight:
        if (node->b.as_int().value_or(-1) < 0) return true;
        break;
      default:
        break;
    }
  }
  bool found = false;
  for_each_operand(value, [&](const Scalar& operand) { found = found || can_fault(operand, prover); });
  return found;
}

Stmt arrange(const Stmt& stmt, RangeProver& prover, LoopWalks& walks) {
  auto found = perfect_nest(stmt);
  if (!found || !find_stored_axes(*found)) return stmt;
  Nest& nest = *found;
  const bool has_reduce =
      std::any_of(nest.axes.begin(), nest.axes.end(), [](const Axis& a) { return !a.stored; });
  if (!has_reduce) return stmt;
  const bool starts = nest.block && nest.block->init.defined();
  const Store* init = starts ? matching_init(nest) : nullptr;
  if (starts && !init) return stmt;

  // Loads of the target only at the stored element, and bounds of loops that are the same in any order.
  std::vector<Access> loads;
  collect_loads(nest.store->value, loads);
  for (const Access& load : loads)
    if (*load.buffer == nest.store->buffer && !same_indices(*load.indices, nest.store->indices)) return stmt;
  for (const Axis& axis : nest.axes)
    for (const Axis& other : nest.axes)
      if (prover.depends_on(axis.loop->extent, other.loop->var)) return stmt;

  for (const Axis& axis : nest.axes) {
    prover.enter_loop(axis.loop->var, axis.loop->begin, axis.loop->extent);
    if (axis.iter) prover.bind(axis.var, axis.iter->binding);
  }
  bool faults = can_fault(nest.store->value, prover) || (init && can_fault(init->value, prover));
  for (std::size_t d = 0; d < nest.store->indices.size(); ++d)
    faults = faults || !prover.in_range(nest.store->indices[d], nest.store->buffer.shape()[d]);
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
  for (std::size_t i = 0; i < nest.axes.size(); ++i) prover.leave_loop();
  if (faults) return stmt;

  std::vector<const Axis*> outer, update_loops, init_loops;
  for (const Axis& axis : nest.axes)
    if (axis.stored && &axis != innermost) outer.push_back(&axis);
  for (const Axis& axis : nest.axes)
    if (!axis.stored && &axis != innermost) update_loops.push_back(&axis);
  if (innermost->stored) init_loops.push_back(innermost);

  std::vector<const Axis*> reduce = update_loops;
  if (!innermost->stored) reduce.push_back(innermost);
  const std::optional<Update> joins = as_update(*nest.store);
  const bool splits = joins && is_float(nest.store->buffer.dtype()) && reassociable(*nest.store) &&
                      independent_addend(nest, *joins);
  const bool levels = reduce.size() > 1 || block_of(*reduce.back(), !innermost->stored) > 0;
  if (splits && levels && many_terms(reduce)) {
    const Stmt sums = with_accumulators(nest, *joins, reduce, innermost->stored ? innermost : nullptr, walks);
    return wrap(outer, with_init(nest, init, init_loops, sums, stmt->span));
  }

  Stmt body = nest.store_stmt;
  if (nest.block) {
    BlockStmt update = *nest.block;
    update.init = {};
    body = make_stmt(std::move(update), nest.block_stmt->span);
  }
  body = wrap({innermost}, body);
  if (innermost->stored && as_update(*nest.store) && !update_loops.empty()) {
    const Axis& swept = *update_loops.back();
    const For& loop = *swept.loop;
    walks[loop.var.id()].sweep = swept_iterations;
    body = make_stmt(For{loop.var, loop.begin, loop.extent, loop.kind, body, loop.annotations}, swept.span);
    update_loops.pop_back();
  }
  body = wrap(update_loops, body);
  return wrap(outer, with_init(nest, init, init_loops, body, stmt->span));
}

bool independent_iterations(const For& loop, RangeProver& prover) {
  Body body{prover, {}, {}, {}};
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

namespace {

bool nest_writes_all(const Stmt& body, const Buffer& buffer, RangeProver& prover) {
  auto nest = perfect_nest(body);
  if (!nest || !(nest->store->buffer == buffer) || !find_stored_axes(*nest)) return false;
  const bool has_init = nest->block && nest->block->init.defined();
  if (has_init && !matching_init(*nest)) return false;
  std::vector<Access> loads;
  collect_loads(nest->store->value, loads);
  for (const Access& load : loads) {
    if (!(*load.buffer == buffer)) continue;
    if (!has_init || !same_indices(*load.indices, nest->store->indices)) return false;
  }
  for (std::size_t d = 0; d < nest->store->indices.size(); ++d) {
    const Scalar& index = nest->store->indices[d];
    const Scalar& dim = buffer.shape()[d];
    if (index.as_int()) {
      if (index.as_int() != 0 || dim.as_int() != 1) return false;
      continue;
    }
    const auto axis = std::find_if(nest->axes.begin(), nest->axes.end(),
                                   [&](const Axis& a) { return a.var == *index.as_var(); });
    if (!prover.same(axis->loop->extent, dim)) return false;
  }
  // A loop that the store does not use might run no time at all, unless the init is a nest of its own.
  LoopWalks unused;
  return (has_init && !arrange(body, prover, unused).same_as(body)) ||
         std::all_of(nest->axes.begin(), nest->axes.end(), [](const Axis& axis) {
           return axis.stored || axis.loop->extent.as_int().value_or(0) > 0;
         });
}

}  // namespace

std::unordered_set<std::uint64_t> written_first(const Stmt& body, const std::vector<Buffer>& buffers,
                                                RangeProver& prover) {
  std::unordered_set<std::uint64_t> written;
  if (!body.defined() || buffers.empty()) return written;
  const auto* sequence = body.as<SeqStmt>();
  if (!sequence) {
    for (const Buffer& buffer : buffers)
      if (nest_writes_all(body, buffer, prover)) written.insert(buffer.id());
    return written;
  }
  // Each buffer is looked for in the first statement that touches it.
  std::unordered_map<std::uint64_t, const Buffer*> waiting;
  for (const Buffer& buffer : buffers) waiting.emplace(buffer.id(), &buffer);
  for (const Stmt& child : sequence->body) {
    if (waiting.empty()) break;
    Body touched{prover, {}, {}, {}};
    touched.visit(child);
    if (touched.has_views || touched.has_jumps) break;
    std::vector<Buffer> here;
    for (const Access& access : touched.accesses) {
      const auto found = waiting.find(access.buffer->id());
      if (found == waiting.end()) continue;
      here.push_back(*found->second);
      waiting.erase(found);
    }
    written.merge(written_first(child, here, prover));
  }
  return written;
}

LoopTraits traits_of(const For& loop, RangeProver& prover) {
  LoopTraits traits;
  Body body{prover, {}, {}, {}};
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

}  // namespace relish::jit

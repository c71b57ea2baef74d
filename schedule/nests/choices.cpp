// Choices in lanes. For
//
//   for i, k: I[i] = Select(V[i] >= A[i, k], I[i], k); V[i] = Select(V[i] >= A[i, k], V[i], A[i, k])
//
//   for i:
//     best[lanes], place[lanes] = what V and I begin with
//     for every vector of k: best[lane], place[lane] = as above, of A[i, k + lane]
//     half of the lanes against the other half, until one is left; then the terms behind whole vectors
//     V[i], I[i] = the last one, or one by one where a NaN or a zero has been seen
#include "schedule/nests/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/faults.h"
#include "loops/lanes.h"
#include "loops/nest.h"
#include "loops/primitives.h"

namespace relish {
namespace {

// Fewer terms are compared as quickly one after the other.
constexpr std::int64_t least_choosing_lanes = 4;

// A choice has two stores and few names. Names stand for their values, which grow with each that holds
// others.
constexpr std::size_t most_lines = 6;

// The stores of a block that names values and stores to several buffers at one place, each value in terms of
// what the buffers held before. Nothing where it does anything else.
std::optional<std::vector<Store>> stores_of(const Stmt& body) {
  const auto* sequence = body.as<SeqStmt>();
  if (!sequence || sequence->body.size() > most_lines) return std::nullopt;
  ScalarMap names;
  std::vector<Store> stores;
  for (const Stmt& line : sequence->body) {
    const auto* store = line.as<Store>();
    const auto* named = line.as<DefineScalar>();  // which nothing assigns to here
    if (!store && !(named && named->value.defined())) return std::nullopt;
    const Scalar value = substitute(store ? store->value : named->value, names);
    std::vector<Access> loads;
    collect_loads(value, loads);
    for (const Access& load : loads)
      for (const Store& before : stores)
        if (*load.buffer == before.buffer) return std::nullopt;
    if (!store) {
      names.insert_or_assign(named->var.id(), value);
      continue;
    }
    for (const Store& before : stores)
      if (before.buffer == store->buffer) return std::nullopt;
    if (!stores.empty() && !same_indices(store->indices, stores.front().indices)) return std::nullopt;
    stores.push_back({store->buffer, store->indices, value});
  }
  return stores;
}

// Which of two elements of one value is kept.
enum class Tie { First, Last, LowerIndex, HigherIndex };

struct Preference {
  bool largest = true;
  Tie tie = Tie::First;
};

CompareOp turned(CompareOp op) {
  switch (op) {
    case CompareOp::Lt:
      return CompareOp::Gt;
    case CompareOp::Le:
      return CompareOp::Ge;
    case CompareOp::Gt:
      return CompareOp::Lt;
    case CompareOp::Ge:
      return CompareOp::Le;
    default:
      return op;
  }
}

// The comparison of `a` with `b`, on whichever side these stand.
std::optional<CompareOp> compared(const Scalar& condition, const Scalar& a, const Scalar& b) {
  const auto* node = condition.as<Compare>();
  if (!node) return std::nullopt;
  if (structurally_equal(node->a, a) && structurally_equal(node->b, b)) return node->op;
  if (structurally_equal(node->a, b) && structurally_equal(node->b, a)) return turned(node->op);
  return std::nullopt;
}

bool is_order(CompareOp op) { return op != CompareOp::Eq && op != CompareOp::Ne; }
bool is_strict(CompareOp op) { return op == CompareOp::Lt || op == CompareOp::Gt; }
bool is_greater(CompareOp op) { return op == CompareOp::Gt || op == CompareOp::Ge; }

struct Candidates {
  Scalar best, value;   // what is held, and the element beside it
  Scalar place, index;  // likewise; undefined where nothing is known of them
};

// What a condition prefers when it keeps what is held (`keeps`), or takes the element. No NaN is compared.
std::optional<Preference> preference_of(const Scalar& condition, bool keeps, const Candidates& of) {
  if (const auto op = compared(condition, of.best, of.value)) {
    if (!is_order(*op)) return std::nullopt;
    return Preference{is_greater(*op) == keeps, is_strict(*op) == keeps ? Tie::Last : Tie::First};
  }
  const auto* either = condition.as<Logical>();
  if (!either || either->op != LogicalOp::Or || !of.index.defined()) return std::nullopt;
  for (const bool first : {true, false}) {
    const auto better = compared(first ? either->a : either->b, of.best, of.value);
    const auto* both = (first ? either->b : either->a).as<Logical>();
    if (!better || !is_order(*better) || !is_strict(*better) || !both || both->op != LogicalOp::And) continue;
    for (const bool begins : {true, false}) {
      const auto same = compared(begins ? both->a : both->b, of.best, of.value);
      const auto by = compared(begins ? both->b : both->a, of.place, of.index);
      if (same != CompareOp::Eq || !by || !is_order(*by)) continue;
      return Preference{is_greater(*better) == keeps,
                        is_greater(*by) == keeps ? Tie::HigherIndex : Tie::LowerIndex};
    }
  }
  return std::nullopt;
}

// A value that is what the buffer holds, or something else, by a condition.
struct Choice {
  Scalar condition, other;
  bool keeps = true;
};

bool is_held(const Scalar& value, const Store& store) {
  const auto* loaded = value.as<Load>();
  return loaded && *loaded->buffer == store.buffer && same_indices(loaded->indices, store.indices);
}

std::optional<Choice> choice_of(const Store& store) {
  const auto* chosen = store.value.as<Select>();
  if (!chosen || chosen->lazy) return std::nullopt;
  if (is_held(chosen->a, store)) return Choice{chosen->condition, chosen->b, true};
  if (is_held(chosen->b, store)) return Choice{chosen->condition, chosen->a, false};
  return std::nullopt;
}

// A nest that is one choice.
struct Chosen {
  Nest nest;
  std::vector<const Axis*> outer;
  const Axis* searched = nullptr;
  Store best, place;
  Candidates of;
  Preference preference;
  Scalar first_best, first_place;  // what they begin with; undefined: what the buffers hold
};

// Takes the two stores for a value and its place.
bool find_choice(Chosen& chosen, const std::vector<Store>& stores) {
  for (const bool first : {true, false}) {
    const Store& best = stores[first ? 0 : 1];
    const Store& place = stores[first ? 1 : 0];
    const auto of_best = choice_of(best), of_place = choice_of(place);
    if (!of_best || !of_place) return false;
    Candidates of{load(best.buffer, best.indices), of_best->other, {}, {}};
    const auto value = preference_of(of_best->condition, of_best->keeps, of);
    of.place = load(place.buffer, place.indices);
    of.index = of_place->other;
    const auto index = preference_of(of_place->condition, of_place->keeps, of);
    if (!value || !index || value->largest != index->largest) continue;
    chosen.best = best;
    chosen.place = place;
    chosen.of = of;
    chosen.preference = *index;
    return true;
  }
  return false;
}

bool loads_from(const Scalar& value, const std::vector<Store>& stores) {
  std::vector<Access> loads;
  collect_loads(value, loads);
  return std::any_of(loads.begin(), loads.end(), [&](const Access& load) {
    return std::any_of(stores.begin(), stores.end(),
                       [&](const Store& store) { return store.buffer == *load.buffer; });
  });
}

// What the block begins with, when it has an init that stores to the same places.
bool find_first(Chosen& chosen, const std::vector<Store>& stores) {
  if (!chosen.nest.block || !chosen.nest.block->init.defined()) return true;
  const auto inits = stores_of(chosen.nest.block->init);
  if (!inits || inits->size() != 2) return false;
  for (const Store& init : *inits) {
    if (!same_indices(init.indices, chosen.best.indices) || loads_from(init.value, stores)) return false;
    if (init.buffer == chosen.best.buffer) chosen.first_best = init.value;
    if (init.buffer == chosen.place.buffer) chosen.first_place = init.value;
  }
  return chosen.first_best.defined() && chosen.first_place.defined();
}

// Where the order of terms decides between equal ones, the index must tell it, and what is held at first must
// count as the first term.
bool order_is_known(const Chosen& chosen) {
  if (chosen.preference.tie == Tie::LowerIndex || chosen.preference.tie == Tie::HigherIndex) return true;
  const auto* converted = chosen.of.index.as<Cast>();
  const auto var = converted ? converted->a.as_var() : chosen.of.index.as_var();
  return var && (*var == chosen.searched->var || *var == chosen.searched->loop->var) &&
         chosen.first_place.defined() && chosen.first_place.as_int().value_or(1) <= 0;
}

// A number of a term as an int64, of which no part may wrap: that of a loop counts within its dtype.
Scalar widened(const Scalar& index) {
  const auto* node = index.as<Binary>();
  if (!node || (node->op != BinaryOp::Add && node->op != BinaryOp::Mul && node->op != BinaryOp::FloorDiv))
    return index.as_int() ? int_literal(DType::Int64, *index.as_int()) : cast(DType::Int64, index);
  return binary(node->op, widened(node->a), widened(node->b), index.span());
}

class ChoiceWriter {
 public:
  ChoiceWriter(const Chosen& chosen, std::int64_t lanes)
      : chosen_(chosen),
        lanes_(lanes),
        index_(chosen.searched->loop->var.dtype()),
        span_(chosen.nest.store_stmt->span),
        watched_(is_float(chosen.best.buffer.dtype())) {
    for (const Axis* axis : chosen.outer) stands_for(*axis, use(axis->loop->var));
  }

  Stmt write() {
    const Held all = held(lanes_);
    std::vector<Stmt> body{begun(all), whole_vectors(all)};
    Held last = all;
    for (std::int64_t half = lanes_ / 2; half >= 1; half /= 2) {
      const Held next = held(half);
      body.push_back(joined(last, next, half));
      last = next;
    }
    body.push_back(last_terms(last));
    body.push_back(stored(last));
    BlockStmt block;
    block.name = "choice";
    block.allocations = allocations_;
    block.body = seq(std::move(body), span_);
    Stmt result = make_stmt(std::move(block), span_);
    for (std::size_t i = chosen_.outer.size(); i-- > 0;) {
      For loop = *chosen_.outer[i]->loop;
      loop.kind = LoopKind::Serial;
      loop.body = result;
      result = make_stmt(std::move(loop), chosen_.outer[i]->span);
    }
    return result;
  }

 private:
  // What lanes hold: `odd` is 1 behind a NaN.
  struct Held {
    Buffer best, place, odd;
  };

  Scalar number(std::int64_t value) const { return int_literal(index_, value); }
  Scalar counted(const Scalar& index) const {
    const auto* wide = index.as<Cast>();
    if (index.dtype() != DType::Int64 || !wide || !wide->a.as_var()) return substitute(index, values_);
    return widened(substitute(wide->a, values_));
  }
  void stands_for(const Axis& axis, const Scalar& value) {
    values_.insert_or_assign(axis.var.id(), cast(axis.var.dtype(), value));
    values_.insert_or_assign(axis.loop->var.id(), value);
  }
  Held held(std::int64_t lanes) {
    const DType dtype = chosen_.best.buffer.dtype();
    const DType flag = size_of(dtype) == 4 ? DType::Int32 : DType::Int64;
    const std::vector<Scalar> shape{number(lanes)};
    Held made{Buffer(fmt::format("best_{}", lanes), dtype, shape, "local"),
              Buffer(fmt::format("place_{}", lanes), chosen_.place.buffer.dtype(), shape, "local"),
              Buffer(fmt::format("odd_{}", lanes), flag, shape, "local")};
    allocations_.push_back(made.best);
    allocations_.push_back(made.place);
    if (watched_) allocations_.push_back(made.odd);
    return made;
  }
  Stmt store(const Buffer& buffer, std::vector<Scalar> at, const Scalar& value) const {
    return make_stmt(Store{buffer, std::move(at), value}, span_);
  }
  Stmt loop(const ScalarVar& var, const Scalar& extent, LoopKind kind, Stmt body) const {
    return make_stmt(For{var, number(0), extent, kind, std::move(body), {}}, span_);
  }
  // For each lane; a single one needs no loop.
  template <class Make>
  Stmt in_lanes(std::int64_t lanes, const Make& make) const {
    if (lanes == 1) return make(number(0));
    const ScalarVar lane("lane", index_, span_);
    return loop(lane, number(lanes), LoopKind::Vectorized, make(use(lane)));
  }
  std::vector<Scalar> element() const {
    std::vector<Scalar> at;
    for (const Scalar& index : chosen_.best.indices) at.push_back(substitute(index, values_));
    return at;
  }

  Stmt begun(const Held& held) const {
    const auto first = [&](const Scalar& given, const Buffer& buffer) {
      return given.defined() ? substitute(given, values_) : load(buffer, element());
    };
    return in_lanes(lanes_, [&](const Scalar& lane) {
      std::vector<Stmt> stores{store(held.best, {lane}, first(chosen_.first_best, chosen_.best.buffer)),
                               store(held.place, {lane}, first(chosen_.first_place, chosen_.place.buffer))};
      if (watched_) stores.push_back(store(held.odd, {lane}, zero(held.odd.dtype())));
      return seq(std::move(stores), span_);
    });
  }

  // A name for the value, behind those that the lines give.
  Scalar named(const char* name, const Scalar& value, std::vector<Stmt>& lines) const {
    const ScalarVar var(name, value.dtype(), span_);
    lines.push_back(make_stmt(DefineScalar{var, value, true}, span_));
    return use(var);
  }

  // The choice as it is written, of what a lane holds and the element that the searched axis stands for.
  Stmt chosen_at(const Held& held, const Scalar& lane) const {
    const Candidates& of = chosen_.of;
    std::vector<Stmt> lines;
    const Scalar best = named("best", load(held.best, {lane}), lines),
                 place = named("place", load(held.place, {lane}), lines),
                 value = named("value", substitute(of.value, values_), lines),
                 index = named("index", counted(of.index), lines);
    const auto here = [&](const Scalar& written) {
      const Scalar with_elements = rewrite(written, [&](const Scalar& part) -> std::optional<Scalar> {
        if (structurally_equal(part, of.best)) return best;
        if (structurally_equal(part, of.place)) return place;
        if (structurally_equal(part, of.value)) return value;
        return std::nullopt;
      });
      // Which may be a part of where the element lies.
      const Scalar with_index = rewrite(with_elements, [&](const Scalar& part) -> std::optional<Scalar> {
        return structurally_equal(part, of.index) ? std::optional(index) : std::nullopt;
      });
      return substitute(with_index, values_);
    };
    if (watched_)
      lines.push_back(
          store(held.odd, {lane},
                select(equal(value, value), load(held.odd, {lane}), int_literal(held.odd.dtype(), 1))));
    lines.push_back(store(held.best, {lane}, here(chosen_.best.value)));
    lines.push_back(store(held.place, {lane}, here(chosen_.place.value)));
    return seq(std::move(lines), span_);
  }

  Stmt whole_vectors(const Held& held) {
    const Scalar& all = chosen_.searched->loop->extent;
    const auto known = all.as_int();
    const ScalarVar vector(chosen_.searched->loop->var.name() + "_0", index_, span_);
    const Stmt body = in_lanes(lanes_, [&](const Scalar& lane) {
      stands_for(*chosen_.searched, use(vector) * number(lanes_) + lane);
      return chosen_at(held, lane);
    });
    return loop(vector, known ? number(*known / lanes_) : floor_div(all, number(lanes_)), LoopKind::Serial,
                body);
  }

  // Lanes against those behind them.
  Stmt joined(const Held& from, const Held& into, std::int64_t half) const {
    return in_lanes(half, [&](const Scalar& lane) {
      const auto of = [&](const Buffer& buffer, bool second) {
        return load(buffer, {second ? lane + number(half) : lane});
      };
      std::vector<Stmt> lines;
      const Scalar a = named("a", of(from.best, false), lines), b = named("b", of(from.best, true), lines),
                   at_a = named("place_a", of(from.place, false), lines),
                   at_b = named("place_b", of(from.place, true), lines);
      const bool lower = chosen_.preference.tie == Tie::First || chosen_.preference.tie == Tie::LowerIndex;
      const Scalar better = chosen_.preference.largest ? a > b : a < b;
      const Scalar keeps = logical(LogicalOp::Or, better,
                                   logical(LogicalOp::And, equal(a, b), lower ? at_a < at_b : at_a > at_b));
      lines.push_back(store(into.best, {lane}, select(keeps, a, b)));
      lines.push_back(store(into.place, {lane}, select(keeps, at_a, at_b)));
      if (watched_) lines.push_back(store(into.odd, {lane}, of(from.odd, false) + of(from.odd, true)));
      return seq(std::move(lines), span_);
    });
  }

  Stmt last_terms(const Held& held) {
    const Scalar& all = chosen_.searched->loop->extent;
    const auto known = all.as_int();
    if (known && *known % lanes_ == 0) return seq({}, span_);
    const Scalar done =
        known ? number(*known / lanes_ * lanes_) : floor_div(all, number(lanes_)) * number(lanes_);
    const ScalarVar term(chosen_.searched->loop->var.name() + "_1", index_, span_);
    stands_for(*chosen_.searched, done + use(term));
    return loop(term, known ? number(*known % lanes_) : all - done, LoopKind::Serial,
                chosen_at(held, number(0)));
  }

  Stmt stored(const Held& held) {
    const Scalar best = load(held.best, {number(0)});
    const Stmt both = seq({store(chosen_.best.buffer, element(), best),
                           store(chosen_.place.buffer, element(), load(held.place, {number(0)}))},
                          span_);
    if (!watched_) return both;
    const Scalar plain = logical(LogicalOp::And, equal(load(held.odd, {number(0)}), zero(held.odd.dtype())),
                                 compare(CompareOp::Ne, best, zero(held.best.dtype())));
    return make_stmt(IfStmt{plain, both, as_written()}, span_);
  }

  // One choice after the other, in the result itself.
  Stmt as_written() {
    std::vector<Stmt> lines;
    if (chosen_.first_best.defined()) {
      lines.push_back(store(chosen_.best.buffer, element(), substitute(chosen_.first_best, values_)));
      lines.push_back(store(chosen_.place.buffer, element(), substitute(chosen_.first_place, values_)));
    }
    const ScalarVar term(chosen_.searched->loop->var.name(), index_, span_);
    stands_for(*chosen_.searched, use(term));
    std::vector<Stmt> body;
    const Scalar place = named("place", substitute(chosen_.place.value, values_), body),
                 best = named("best", substitute(chosen_.best.value, values_), body);
    body.push_back(store(chosen_.place.buffer, element(), place));
    body.push_back(store(chosen_.best.buffer, element(), best));
    lines.push_back(
        loop(term, chosen_.searched->loop->extent, LoopKind::Serial, seq(std::move(body), span_)));
    return seq(std::move(lines), span_);
  }

  const Chosen& chosen_;
  const std::int64_t lanes_;
  const DType index_;
  const Span span_;
  const bool watched_;  // floats have NaNs and zeros of two signs
  std::vector<Buffer> allocations_;
  ScalarMap values_;  // of the axes, at the point that is being written
};

// Lanes for which all of the choice has a form; 0: none.
std::int64_t lanes_for(const Chosen& chosen, RangeProver& prover, const Target& target) {
  const DType best = chosen.best.buffer.dtype(), place = chosen.place.buffer.dtype();
  if (!has_lanes(best) || !has_lanes(place) || is_float(place)) return 0;
  for (const Scalar& value : {chosen.of.value, chosen.of.index}) {
    if (!computed_in_lanes(value)) return 0;
    std::vector<Access> loads;
    collect_loads(value, loads);
    for (const Access& load : loads)
      if (pace_of(*load.buffer, *load.indices, chosen.searched->loop->var, prover) == Pace::Across) return 0;
  }
  if (!prover.depends_on(chosen.of.value, chosen.searched->loop->var)) return 0;
  std::int64_t lanes = target.vector_bytes / static_cast<std::int64_t>(size_of(best));
  const auto extent = chosen.searched->loop->extent.as_int();
  while (extent && lanes > *extent) lanes /= 2;
  return lanes < least_choosing_lanes ? 0 : lanes;
}

// The axis of the result along which all that moves with it lies side by side; null: none.
const Axis* along(const Nest& nest, const std::vector<Store>& stores, RangeProver& prover) {
  std::vector<Access> accesses;
  for (const Store& store : stores) {
    accesses.push_back({&store.buffer, &store.indices, true});
    collect_loads(store.value, accesses);
  }
  const Axis* found = nullptr;
  for (const Axis& axis : nest.axes) {
    if (!axis.stored || axis.loop->extent.as_int().value_or(least_choosing_lanes) < least_choosing_lanes)
      continue;
    const bool side_by_side = std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      return pace_of(*access.buffer, *access.indices, axis.loop->var, prover) != Pace::Across;
    });
    if (side_by_side) found = &axis;
  }
  return found;
}

// The nest with the loop over that axis innermost, behind one for what its block begins with.
Stmt turned_inside(const Nest& nest, const Axis& inner) {
  const auto in_loops = [&](Stmt body, bool searched) {
    std::vector<const Axis*> order;
    for (const bool stored : {true, false})
      for (const Axis& axis : nest.axes)
        if (axis.stored == stored && &axis != &inner && (stored || searched)) order.push_back(&axis);
    order.push_back(&inner);
    for (std::size_t i = order.size(); i-- > 0;) {
      For loop = *order[i]->loop;
      loop.kind = LoopKind::Serial;
      loop.body = body;
      body = make_stmt(std::move(loop), order[i]->span);
    }
    return body;
  };
  BlockStmt update = *nest.block;
  update.init = {};
  update.reads = update.writes = std::nullopt;
  const Stmt updates = in_loops(make_stmt(std::move(update), nest.block_stmt->span), true);
  if (!nest.block->init.defined()) return updates;
  BlockStmt first;
  first.name = nest.block->name + "_init";
  for (const IterVar& iter : nest.block->iters)
    if (iter.kind != IterKind::Reduce) first.iters.push_back(iter);
  first.body = nest.block->init;
  return seq({fresh_copy(in_loops(make_stmt(std::move(first), nest.block_stmt->span), false)), updates},
             nest.store_stmt->span);
}

}  // namespace

std::optional<Stmt> choose_in_lanes(const Stmt& stmt, RangeProver& prover, const Target& target) {
  auto loops = perfect_loops(stmt);
  if (!loops || loops->store || !loops->block) return std::nullopt;
  Chosen chosen;
  chosen.nest = *loops;
  Nest& nest = chosen.nest;
  const auto stores = stores_of(nest.block->body);
  if (!stores || stores->size() != 2) return std::nullopt;
  nest.store = &stores->front();
  if (!find_stored_axes(nest, false, true)) return std::nullopt;
  for (const Axis& axis : nest.axes) {
    const IterKind kind = axis.stored ? IterKind::Spatial : IterKind::Reduce;
    if ((axis.loop->kind != LoopKind::Serial && axis.loop->kind != LoopKind::Parallel) ||
        !axis.loop->annotations.empty() || axis.iter->kind != kind ||
        axis.loop->var.dtype() != nest.axes.front().loop->var.dtype())
      return std::nullopt;
    for (const Axis& other : nest.axes)
      if (prover.depends_on(axis.loop->extent, other.loop->var)) return std::nullopt;
    if (axis.stored) {
      chosen.outer.push_back(&axis);
    } else {
      if (chosen.searched) return std::nullopt;
      chosen.searched = &axis;
    }
  }
  if (!chosen.searched || !find_choice(chosen, *stores) || !find_first(chosen, *stores) ||
      loads_from(chosen.of.value, *stores) || loads_from(chosen.of.index, *stores))
    return std::nullopt;

  enter(nest, prover);
  bool fails = chosen.first_best.defined() &&
               (may_fault(chosen.first_best, prover) || may_fault(chosen.first_place, prover));
  for (const Store& store : *stores) {
    fails = fails || may_fault(store.value, prover);
    for (std::size_t d = 0; d < store.indices.size(); ++d)
      fails = fails || !prover.in_range(store.indices[d], store.buffer.shape()[d]);
  }
  const std::int64_t lanes = fails || !order_is_known(chosen) ? 0 : lanes_for(chosen, prover, target);
  const Axis* inner = fails || lanes > 0 ? nullptr : along(nest, *stores, prover);
  leave(nest, prover);
  if (lanes > 0) return ChoiceWriter(chosen, lanes).write();
  if (!inner || &nest.axes.back() == inner) return std::nullopt;
  return turned_inside(nest, *inner);
}

}  // namespace relish

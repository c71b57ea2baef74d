// Taking conditions apart, and writing what remains of a sum where they are known.
#include "schedule/remainders/parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/reduction.h"
#include "schedule/plain_indices.h"

namespace relish {
namespace {

void conjuncts(const Scalar& condition, std::vector<Scalar>& into) {
  const auto* both = condition.as<Logical>();
  if (!both || both->op != LogicalOp::And) return into.push_back(condition);
  conjuncts(both->a, into);
  conjuncts(both->b, into);
}

std::int64_t remainder(std::int64_t value, std::int64_t divisor) {
  return (value % divisor + divisor) % divisor;
}

// A summed axis whose factor reaches every remainder.
bool reaches_all(std::int64_t factor, std::int64_t divisor) {
  return std::gcd(remainder(factor, divisor), divisor) == 1;
}

std::optional<Congruence> congruence_of(const Scalar& condition, const Nest& nest, CongruenceKind kind) {
  const auto* equals = condition.as<Compare>();
  if (!equals || equals->op != CompareOp::Eq || equals->b.as_int() != 0) return std::nullopt;
  const auto* taken = equals->a.as<Binary>();
  if (!taken || taken->op != BinaryOp::FloorMod) return std::nullopt;
  Congruence result;
  result.divisor = taken->b.as_int().value_or(0);
  if (result.divisor < 2 || result.divisor > most_remainder_copies) return std::nullopt;
  RangeProver outside;
  Polynomial rest = outside.polynomial(taken->a);
  for (const Axis& axis : nest.axes) {
    if (!rest.contains(axis.var.id())) continue;
    const auto parts = rest.split(axis.var.id());
    const auto factor = parts ? parts->quotient.constant() : std::nullopt;
    // An axis of one term is 0.
    if (factor && !axis.stored && axis.loop->extent.as_int() == 1 && kind == CongruenceKind::OfStored) {
      rest = parts->rest;
      continue;
    }
    if (!factor || (axis.stored ? result.stored : result.summed) || !axis.loop->extent.as_int())
      return std::nullopt;
    (axis.stored ? result.stored : result.summed) = &axis;
    (axis.stored ? result.stored_factor : result.summed_factor) = remainder(*factor, result.divisor);
    rest = parts->rest;
  }
  const auto constant = rest.constant();
  const bool of_both = kind == CongruenceKind::OfBoth;
  if (!constant || !result.stored || (result.summed != nullptr) != of_both ||
      !reaches_all(of_both ? result.summed_factor : result.stored_factor, result.divisor))
    return std::nullopt;
  result.constant = remainder(*constant, result.divisor);
  return result;
}

bool in_free_order(const Nest& nest) {
  return std::all_of(nest.axes.begin(), nest.axes.end(), [&](const Axis& axis) {
    return axis.iter && (axis.iter->kind == IterKind::Spatial) == axis.stored &&
           (axis.loop->kind == LoopKind::Serial || axis.loop->kind == LoopKind::Parallel) &&
           axis.loop->annotations.empty() && axis.loop->var.dtype() == DType::Int64 &&
           axis.loop->extent.as_int().value_or(1) > 0;
  });
}

class PartWriter {
 public:
  PartWriter(const Nest& nest, const GuardedSum& guarded, RangeProver& prover, const Buffer& into)
      : nest_(nest),
        guarded_(guarded),
        prover_(prover),
        into_(into.defined() ? into : nest.store->buffer),
        densely_(into.defined()) {}

  // The iterations with these remainders of the stored axes, in the order of the congruences.
  RemainderPart write(const std::vector<std::int64_t>& remainders) {
    bool empty = false;
    for (const Axis& axis : nest_.axes) {
      const auto which =
          std::find_if(guarded_.congruences.begin(), guarded_.congruences.end(),
                       [&](const Congruence& each) { return each.stored == &axis || each.summed == &axis; });
      if (which == guarded_.congruences.end()) {
        keep(axis, axis.loop->extent, 1, 0);
        continue;
      }
      const auto of_stored = remainders[static_cast<std::size_t>(which - guarded_.congruences.begin())];
      const std::int64_t at = axis.stored ? of_stored : which->remainder_for(of_stored);
      const std::int64_t count = (*axis.loop->extent.as_int() - at + which->divisor - 1) / which->divisor;
      if (count > 0)
        keep(axis, Scalar(count), which->divisor, at);
      else if (axis.stored)
        return {};
      else
        empty = true;
    }
    fill(empty);
    return part_;
  }

 private:
  void keep(const Axis& axis, const Scalar& extent, std::int64_t factor, std::int64_t offset) {
    if (extent.as_int() == 1 && factor > 1) {
      values_.insert_or_assign(axis.var.id(), Scalar(offset));
      places_.insert_or_assign(axis.var.id(), Scalar(0));
      return;
    }
    const ScalarVar loop(axis.loop->var.name(), DType::Int64, axis.loop->var.span());
    const ScalarVar var(axis.var.name(), DType::Int64, axis.var.span());
    const Scalar scaled = factor == 1 ? use(var) : use(var) * Scalar(factor);
    values_.insert_or_assign(axis.var.id(), offset == 0 ? scaled : scaled + Scalar(offset));
    places_.insert_or_assign(axis.var.id(), use(var));
    part_.loops.push_back({loop, Scalar(0), extent, LoopKind::Serial, {}, {}});
    part_.iters.push_back({var, axis.iter->kind, Scalar(0), extent, use(loop)});
    part_.sums = part_.sums || !axis.stored;
  }

  // The value in these iterations, with what is computed of literals alone as literals.
  Scalar plain(const Scalar& value) const {
    const Scalar here = without_quotients(substitute(value, values_), prover_);
    return rewrite(here, [](const Scalar& part) -> std::optional<Scalar> {
      const auto* narrowed = part.as<Cast>();
      const auto number = narrowed && part.dtype() == DType::Int32 ? narrowed->a.as_int() : std::nullopt;
      if (number && *number == static_cast<std::int32_t>(*number)) return int_literal(DType::Int32, *number);
      const auto* node = part.as<Binary>();
      const bool known = node && part.dtype() == DType::Int64 && node->a.as_int() && node->b.as_int();
      return known ? std::optional(canonical(part)) : std::nullopt;
    });
  }

  // The same of a condition. Of `e >= 0` where the divisor of a congruence goes into e, that of the quotient,
  // which proves more.
  Scalar plain_condition(const Scalar& condition) const {
    const auto* node = condition.as<Compare>();
    if (!node || node->op != CompareOp::Ge || node->b.as_int() != 0 || node->a.dtype() != DType::Int64)
      return plain(condition);
    for (const Congruence& each : guarded_.congruences) {
      const Scalar quotient = plain(floor_div(node->a, Scalar(each.divisor)));
      const auto* divided = quotient.as<Binary>();
      if (!divided || divided->op != BinaryOp::FloorDiv) return compare(CompareOp::Ge, quotient, Scalar(0));
    }
    return plain(condition);
  }
  // What is not shown to hold in every iteration.
  Scalar condition() const {
    Scalar result;
    for (const Scalar& each : guarded_.others) {
      const Scalar here = plain_condition(each);
      if (always(here)) continue;
      result = result.defined() ? logical(LogicalOp::And, result, here) : here;
    }
    return result;
  }
  bool always(const Scalar& condition) const {
    const auto* node = condition.as<Compare>();
    if (!node || node->a.dtype() != DType::Int64) return false;
    if (node->op == CompareOp::Ge) return prover_.nonnegative(node->a - node->b);
    if (node->op == CompareOp::Lt) return prover_.nonnegative(node->b - node->a - Scalar(1));
    return false;
  }

  void fill(bool empty) {
    for (std::size_t i = 0; i < part_.loops.size(); ++i) {
      prover_.enter_loop(part_.loops[i].var, Scalar(0), part_.loops[i].extent);
      prover_.bind(part_.iters[i].var, part_.iters[i].binding);
    }
    const Store& store = *nest_.store;
    std::vector<Scalar> at;
    for (const Scalar& index : store.indices) at.push_back(substitute(index, densely_ ? places_ : values_));
    const Span span = nest_.store_stmt->span;
    const auto stored = [&](const Scalar& value) {
      return make_stmt(Store{into_, at, value}, span, nest_.store_stmt->comments);
    };
    const Scalar first = guarded_.init->value;
    if (empty) {
      drop_sums();
      part_.body = stored(first);
    } else {
      const Scalar holds = condition();
      const Scalar term = plain(guarded_.term);
      const Scalar added = holds.defined() ? if_then_else(holds, term, zero(term.dtype())) : term;
      if (part_.sums) part_.init = stored(first);
      part_.body = stored((part_.sums ? load(into_, at) : first) + added);
    }
    for (std::size_t i = 0; i < entered(); ++i) prover_.leave_loop();
  }
  void drop_sums() {
    for (std::size_t i = part_.loops.size(); i-- > 0;) {
      if (part_.iters[i].kind != IterKind::Reduce) continue;
      part_.loops.erase(part_.loops.begin() + static_cast<std::ptrdiff_t>(i));
      part_.iters.erase(part_.iters.begin() + static_cast<std::ptrdiff_t>(i));
      ++dropped_;
    }
    part_.sums = false;
  }
  std::size_t entered() const { return part_.loops.size() + dropped_; }

  const Nest& nest_;
  const GuardedSum& guarded_;
  RangeProver& prover_;
  const Buffer into_;
  const bool densely_;
  RemainderPart part_;
  ScalarMap values_, places_;  // of the axes, in all iterations and among those of the part
  std::size_t dropped_ = 0;
};

}  // namespace

std::int64_t Congruence::remainder_for(std::int64_t stored_remainder) const {
  for (std::int64_t q = 0; q < divisor; ++q)
    if ((stored_factor * stored_remainder + summed_factor * q + constant) % divisor == 0) return q;
  return 0;
}

std::int64_t Congruence::stored_remainder() const {
  for (std::int64_t r = 0; r < divisor; ++r)
    if ((stored_factor * r + constant) % divisor == 0) return r;
  return 0;
}

std::optional<GuardedSum> guarded_sum(const Nest& nest, CongruenceKind kind) {
  if (!nest.block || !nest.block->init.defined() || !in_free_order(nest)) return std::nullopt;
  GuardedSum result;
  result.init = matching_init(nest);
  const auto update = as_update(*nest.store);
  const auto* chosen = update ? update->addend.as<Select>() : nullptr;
  if (!result.init || !chosen || !chosen->lazy || update->op != BinaryOp::Add) return std::nullopt;
  // Sums that begin with 0 do not change where 0 is added.
  const auto is_zero = [](const Scalar& value) {
    const auto* literal = value.as<FloatLiteral>();
    return literal && literal->value == 0 && !std::signbit(literal->value);
  };
  if (!is_zero(chosen->b) || !is_zero(result.init->value)) return std::nullopt;
  std::vector<Access> loads;
  collect_loads(update->addend, loads);
  for (const Access& load : loads)
    if (*load.buffer == nest.store->buffer) return std::nullopt;
  result.term = chosen->a;
  std::vector<Scalar> conditions;
  conjuncts(chosen->condition, conditions);
  const auto used = [&](const Axis* axis) {
    return std::any_of(result.congruences.begin(), result.congruences.end(), [&](const Congruence& each) {
      return axis && (each.stored == axis || each.summed == axis);
    });
  };
  for (const Scalar& condition : conditions) {
    const auto found = congruence_of(condition, nest, kind);
    if (found && !used(found->stored) && !used(found->summed))
      result.congruences.push_back(*found);
    else
      result.others.push_back(condition);
  }
  return result.congruences.empty() ? std::nullopt : std::optional(result);
}

RemainderPart remainder_part(const Nest& nest, const GuardedSum& guarded, RangeProver& prover,
                             const std::vector<std::int64_t>& remainders, const Buffer& into) {
  return PartWriter(nest, guarded, prover, into).write(remainders);
}

Stmt nest_of(const RemainderPart& part, const Nest& nest) {
  BlockStmt block = *nest.block;
  block.reads = block.writes = std::nullopt;
  block.iters = part.iters;
  block.init = part.init;
  block.body = part.body;
  Stmt body = make_stmt(std::move(block), nest.block_stmt->span);
  for (std::size_t i = part.loops.size(); i-- > 0;) {
    For loop = part.loops[i];
    loop.body = body;
    body = make_stmt(std::move(loop), nest.store_stmt->span);
  }
  return body;
}

bool free_of_faults(const RemainderPart& part, const Nest& nest, RangeProver& prover) {
  const Stmt stmt = nest_of(part, nest);
  const auto own = perfect_nest(stmt);
  if (!own) return false;
  enter(*own, prover);
  const bool faults = may_fault(*own, nullptr, prover);
  leave(*own, prover);
  return !faults;
}

}  // namespace relish

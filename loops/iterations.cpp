// Independence of iterations.
#include "loops/iterations.h"

#include <algorithm>
#include <unordered_map>

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "loops/accesses.h"
#include "loops/digits.h"

namespace relish {
namespace {

// The most iterations of each loop in a statement that begins at 0, as far as literals tell.
using Extents = std::unordered_map<Polynomial::Atom, std::int64_t>;

Extents extents_in(const Stmt& body) {
  Extents extents;
  for_each_stmt(body, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    if (!loop || loop->begin.as_int() != 0 || loop->step.defined()) return;
    if (const auto extent = most_iterations(loop->extent)) extents.emplace(loop->var.id(), *extent);
  });
  return extents;
}

// Whether the offset is in [0, size) whatever the loops in the body count.
bool stays_below(const Polynomial& offset, std::int64_t size, const Extents& extents) {
  std::int64_t most = 0;
  for (const auto& [atoms, coefficient] : offset.terms()) {
    std::int64_t reach = 1;
    if (coefficient < 0 || atoms.size() > 1) return false;
    if (!atoms.empty()) {
      const auto found = extents.find(atoms.front());
      if (found == extents.end()) return false;
      reach = found->second - 1;
    }
    if (__builtin_mul_overflow(reach, coefficient, &reach) || __builtin_add_overflow(most, reach, &most))
      return false;
  }
  return offset.valid() && most < size;
}

// The most that a value reaches which is never negative, whatever the loops in the body count, quotients and
// remainders of what they count among it; none where that is not seen.
std::optional<std::int64_t> most_of(const Scalar& value, const Extents& extents) {
  if (const auto literal = value.as_int()) return *literal < 0 ? std::nullopt : literal;
  if (const auto var = value.as_var()) {
    const auto found = extents.find(var->id());
    return found == extents.end() ? std::nullopt
                                  : std::optional(std::max<std::int64_t>(found->second - 1, 0));
  }
  const auto* node = value.as<Binary>();
  const auto a = node ? most_of(node->a, extents) : std::nullopt;
  const auto b = a ? most_of(node->b, extents) : std::nullopt;
  if (!b) return std::nullopt;
  const auto divisor = node->b.as_int().value_or(0);
  std::int64_t most = 0;
  switch (node->op) {
    case BinaryOp::Add:
      return __builtin_add_overflow(*a, *b, &most) ? std::nullopt : std::optional(most);
    case BinaryOp::Mul:
      return __builtin_mul_overflow(*a, *b, &most) ? std::nullopt : std::optional(most);
    case BinaryOp::FloorDiv:
      return divisor > 0 ? std::optional(*a / divisor) : std::nullopt;
    case BinaryOp::FloorMod:
      return divisor > 0 ? std::optional(std::min(*a, divisor - 1)) : std::nullopt;
    case BinaryOp::Min:
      return std::min(*a, *b);
    default:
      return std::nullopt;
  }
}

// Whether the index is loop * size + what is in [0, size), by quotients and remainders in it, too.
bool in_block_of(const Scalar& index, const ScalarVar& loop, std::int64_t size, const Extents& extents) {
  const auto at = [&](const Scalar& value) { return substitute(index, ScalarMap{{loop.id(), value}}); };
  const Scalar next = use(loop) + int_literal(loop.dtype(), 1);
  if (canonical(at(next) - index).as_int() != size) return false;
  const auto most = most_of(at(int_literal(loop.dtype(), 0)), extents);
  return most && *most < size;
}

// Whether blocks of so many elements, one for each iteration, have places of their own: numbers that wrap
// around come back to those before.
bool blocks_apart(const For& loop, std::int64_t size, DType index) {
  std::int64_t end = 0;
  const auto count = most_iterations(loop.extent);
  return !count || (!__builtin_mul_overflow(*count, size, &end) &&
                    (size_of(index) == 8 || end <= std::int64_t{1} << (8 * size_of(index))));
}

}  // namespace

std::optional<std::int64_t> most_iterations(const Scalar& extent) {
  if (const auto literal = extent.as_int()) return literal;
  const auto* least = extent.as<Binary>();
  if (!least || least->op != BinaryOp::Min) return std::nullopt;
  const auto a = most_iterations(least->a), b = most_iterations(least->b);
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

bool independent_iterations(const For& loop, RangeProver& prover) {
  BodyAccesses body{prover};
  body.visit(loop.body);
  if (body.assigns_outside || body.has_views) return false;
  const auto fixed = [&](const Polynomial& p) {
    // Nothing in it may change within the loop: constants, dims and the variables of loops around.
    for (const auto& term : p.terms())
      for (const auto atom : term.first)
        if (!prover.is_dimension(atom) && (atom == loop.var.id() || !prover.is_entered(atom))) return false;
    return true;
  };
  const Extents extents = extents_in(loop.body);
  // Every access in a block of its own: at loop * size + what stays below that size.
  const auto in_blocks = [&](const Buffer& buffer, std::size_t d, std::int64_t size) {
    return size > 1 && std::all_of(body.accesses.begin(), body.accesses.end(), [&](const Access& access) {
             if (!(*access.buffer == buffer)) return true;
             const Scalar& index = (*access.indices)[d];
             const auto split = prover.polynomial(index).split(loop.var.id());
             return split && split->quotient.constant() == size &&
                    (stays_below(split->rest, size, extents) ||
                     in_block_of(index, loop.var, size, extents)) &&
                    blocks_apart(loop, size, index.dtype());
           });
  };
  for (const Access& store : body.accesses) {
    if (!store.store || body.own_buffers.contains(store.buffer->id())) continue;
    bool separated = false;
    for (std::size_t d = 0; d < store.indices->size() && !separated; ++d) {
      const Polynomial at = prover.polynomial((*store.indices)[d]);
      const auto split = at.split(loop.var.id());
      if (split && in_blocks(*store.buffer, d, split->quotient.constant().value_or(0))) separated = true;
      if (!split || separated || split->quotient.constant() != 1 || !fixed(split->rest)) continue;
      separated = std::all_of(body.accesses.begin(), body.accesses.end(), [&](const Access& other) {
        return !(*other.buffer == *store.buffer) || (prover.polynomial((*other.indices)[d]) - at).is_zero();
      });
    }
    if (!separated) return false;
  }
  return true;
}

namespace {

// Whether an index moves with the variable by elements only that are loaded, of which LLVM knows nothing:
// sums of these with what moves by a fixed stride, their limits, and choices between them.
bool told_by_data(const Scalar& value, const ScalarVar& var, RangeProver& prover) {
  if (!prover.depends_on(value, var)) return true;
  const auto told = [&](const Scalar& part) { return told_by_data(part, var, prover); };
  const auto placed = [&](const Scalar& part) { return prover.stride(part, var) || told(part); };
  if (const auto* loaded = value.as<Load>())
    return std::all_of(loaded->indices.begin(), loaded->indices.end(), placed);
  if (const auto* node = value.as<Cast>()) return told(node->a);
  if (const auto* node = value.as<Select>()) return told(node->condition) && told(node->a) && told(node->b);
  if (const auto* node = value.as<Compare>()) return told(node->a) && told(node->b);
  if (const auto* node = value.as<Logical>()) return told(node->a) && told(node->b);
  const auto* node = value.as<Binary>();
  if (!node) return false;
  if (node->op == BinaryOp::Add || node->op == BinaryOp::Sub) return placed(node->a) && placed(node->b);
  return (node->op == BinaryOp::Mul || node->op == BinaryOp::Min || node->op == BinaryOp::Max) &&
         told(node->a) && told(node->b);
}

}  // namespace

LoopTraits traits_of(const For& loop, RangeProver& prover) {
  LoopTraits traits;
  bool strange = false;
  BodyAccesses body{prover};
  body.visit(loop.body);
  for (const Access& access : body.accesses) {
    if (const auto place = counted_place(*access.buffer, *access.indices)) {
      const bool strided = prover.stride(*place, loop.var).has_value();
      traits.affine = traits.affine && strided;
      strange = strange || !strided;
    } else {
      for (const Scalar& index : *access.indices) {
        if (prover.stride(index, loop.var)) continue;
        traits.affine = false;
        strange = strange || access.store || !told_by_data(index, loop.var, prover);
      }
    }
    if (!access.store) continue;
    const bool moves = std::any_of(access.indices->begin(), access.indices->end(),
                                   [&](const Scalar& index) { return prover.depends_on(index, loop.var); });
    if (!moves) traits.reduces = true;
  }
  traits.gathers = !traits.affine && !strange && !traits.reduces;
  return traits;
}

int count_intrinsics(const Scalar& value) {
  int count = value.as<IntrinsicCall>() ? 1 : 0;
  for_each_operand(value, [&](const Scalar& operand) { count += count_intrinsics(operand); });
  return count;
}

}  // namespace relish

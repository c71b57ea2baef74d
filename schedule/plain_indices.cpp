// Simplification of indices by ranges.
#include "schedule/plain_indices.h"

#include <algorithm>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "loops/accesses.h"

namespace relish {
namespace {

struct IndexTerm {
  Scalar factor;  // undefined: 1
  std::int64_t coefficient;
};

// False where a coefficient leaves int64.
bool collect_terms(const Scalar& value, std::int64_t coefficient, std::vector<IndexTerm>& into) {
  if (const auto literal = value.as_int()) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(*literal, coefficient, &product)) return false;
    into.push_back({{}, product});
    return true;
  }
  const auto* node = value.as<Binary>();
  if (node && node->op == BinaryOp::Add)
    return collect_terms(node->a, coefficient, into) && collect_terms(node->b, coefficient, into);
  if (node && node->op == BinaryOp::Sub && coefficient != INT64_MIN)
    return collect_terms(node->a, coefficient, into) && collect_terms(node->b, -coefficient, into);
  if (node && node->op == BinaryOp::Mul) {
    const auto a = node->a.as_int(), b = node->b.as_int();
    std::int64_t product = 0;
    if (a && !__builtin_mul_overflow(*a, coefficient, &product)) return collect_terms(node->b, product, into);
    if (b && !__builtin_mul_overflow(*b, coefficient, &product)) return collect_terms(node->a, product, into);
  }
  into.push_back({value, coefficient});
  return true;
}

Scalar sum_of(const std::vector<IndexTerm>& terms, std::int64_t divisor) {
  Scalar sum;
  for (const IndexTerm& term : terms) {
    const std::int64_t coefficient = term.coefficient / divisor;
    if (coefficient == 0) continue;
    Scalar part = !term.factor.defined() ? Scalar(coefficient)
                  : coefficient == 1     ? term.factor
                                         : term.factor * Scalar(coefficient);
    sum = sum.defined() ? sum + part : part;
  }
  return sum.defined() ? sum : Scalar(0);
}

std::optional<Scalar> plain_quotient(const Scalar& value, RangeProver& prover) {
  const auto* node = value.as<Binary>();
  if (!node || value.dtype() != DType::Int64) return std::nullopt;
  if (node->op != BinaryOp::FloorDiv && node->op != BinaryOp::FloorMod) return std::nullopt;
  const std::int64_t divisor = node->b.as_int().value_or(0);
  std::vector<IndexTerm> terms, whole, rest;
  if (divisor <= 0 || !collect_terms(node->a, 1, terms)) return std::nullopt;
  std::int64_t constant = 0;
  for (const IndexTerm& term : terms) {
    if (term.factor.defined())
      (term.coefficient % divisor == 0 ? whole : rest).push_back(term);
    else if (__builtin_add_overflow(constant, term.coefficient, &constant))
      return std::nullopt;
  }
  // The constants together: what of them the divisor goes into, and what remains.
  const std::int64_t remains = (constant % divisor + divisor) % divisor;
  if (remains != 0) rest.push_back({{}, remains});
  if (constant != remains) whole.push_back({{}, constant - remains});
  if (!prover.in_range(sum_of(rest, 1), Scalar(divisor))) return std::nullopt;
  return node->op == BinaryOp::FloorDiv ? sum_of(whole, divisor) : sum_of(rest, 1);
}

}  // namespace

Scalar with_plain_indices(const Scalar& value, RangeProver& prover) {
  return rewrite(value, [&](const Scalar& part) -> std::optional<Scalar> {
    const auto* loaded = part.as<Load>();
    if (!loaded) return std::nullopt;
    std::vector<Scalar> indices;
    bool changed = false;
    for (const Scalar& index : loaded->indices) {
      indices.push_back(rewrite(index, [&](const Scalar& node) { return plain_quotient(node, prover); }));
      changed = changed || !indices.back().same_as(index);
    }
    if (!changed) return std::nullopt;
    return load(*loaded->buffer, std::move(indices), part.span());
  });
}

Scalar without_quotients(const Scalar& value, RangeProver& prover) {
  return rewrite(value, [&](const Scalar& node) -> std::optional<Scalar> {
    const auto plain = plain_quotient(node, prover);
    return plain ? std::optional(canonical(*plain)) : std::nullopt;
  });
}

bool is_affine(const Scalar& index) {
  if (index.as<IntLiteral>() || index.as<VarUse>()) return true;
  if (const auto* widened = index.as<Cast>()) return is_affine(widened->a);
  const auto* node = index.as<Binary>();
  return node && (node->op == BinaryOp::Add || node->op == BinaryOp::Sub || node->op == BinaryOp::Mul) &&
         is_affine(node->a) && is_affine(node->b);
}

bool has_affine_loads(const Scalar& value) {
  std::vector<Access> loads;
  collect_loads(value, loads);
  return std::all_of(loads.begin(), loads.end(), [](const Access& load) {
    return std::all_of(load.indices->begin(), load.indices->end(), is_affine);
  });
}

}  // namespace relish

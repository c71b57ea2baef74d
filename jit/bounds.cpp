// Range proofs by elimination: an index is a polynomial; each loop variable in it is replaced by the end of
// its range that makes the whole largest (or smallest), innermost loop first; what remains must have no
// negative term.
#include "jit/bounds.h"

#include <algorithm>

namespace relish::jit {
namespace {

constexpr Polynomial::Atom opaque_base = Polynomial::Atom{1} << 62;

// Arithmetic of narrow and unsigned integers wraps at values that indices reach, so it is not taken apart.
bool is_index_dtype(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

bool divisible(const Polynomial& p, std::int64_t divisor) {
  return std::all_of(p.terms().begin(), p.terms().end(),
                     [&](const auto& term) { return term.first.empty() || term.second % divisor == 0; });
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

// floor(p / divisor) for p whose non-constant terms are divisible.
Polynomial floor_divide(const Polynomial& p, std::int64_t divisor) {
  Polynomial result;
  for (const auto& [monomial, coefficient] : p.terms())
    result.add(monomial, monomial.empty() ? floor_divide(coefficient, divisor) : coefficient / divisor);
  return result;
}

}  // namespace

void RangeProver::assume_dimension(const ScalarVar& var) { dimensions_[var.id()] = true; }

void RangeProver::enter_loop(const ScalarVar& var, const Scalar& begin, const Scalar& extent) {
  if (loops_.empty()) opaques_before_ = opaques_.size();
  const Polynomial first = polynomial(begin);
  const Polynomial count = polynomial(extent);
  loops_.push_back({var, {first, first + count - Polynomial(1)}, count});
}

void RangeProver::leave_loop() {
  loops_.pop_back();
  // What stood for terms inside the nest is not asked for behind it.
  if (loops_.empty()) opaques_.resize(opaques_before_);
}

void RangeProver::bind(const ScalarVar& var, const Scalar& value) { bound_[var.id()] = polynomial(value); }

Polynomial RangeProver::polynomial(const Scalar& value) {
  if (const auto literal = value.as_int()) return Polynomial(*literal);
  if (const auto* use = value.as<VarUse>()) {
    const auto found = bound_.find(use->var.id());
    return found != bound_.end() ? found->second : Polynomial::of(use->var.id());
  }
  if (const auto* node = value.as<Cast>()) {
    // Widening keeps the value; narrowing might not.
    if (is_index_dtype(value.dtype()) && is_signed_int(node->a.dtype()) &&
        size_of(node->a.dtype()) <= size_of(value.dtype()))
      return polynomial(node->a);
    return opaque(value);
  }
  if (const auto* node = value.as<Binary>(); node && is_index_dtype(value.dtype())) {
    switch (node->op) {
      case BinaryOp::Add:
        return polynomial(node->a) + polynomial(node->b);
      case BinaryOp::Sub:
        return polynomial(node->a) - polynomial(node->b);
      case BinaryOp::Mul:
        return polynomial(node->a) * polynomial(node->b);
      default:
        break;
    }
  }
  return opaque(value);
}

Polynomial RangeProver::opaque(const Scalar& value) {
  for (std::size_t i = 0; i < opaques_.size(); ++i)
    if (structurally_equal(opaques_[i].value, value)) return Polynomial::of(opaque_base + i);
  opaques_.push_back({value, std::nullopt});
  const std::size_t position = opaques_.size() - 1;
  std::optional<Range> range = opaque_range(value);
  opaques_[position].range = std::move(range);
  return Polynomial::of(opaque_base + position);
}

std::optional<RangeProver::Range> RangeProver::opaque_range(const Scalar& value) {
  const auto* node = value.as<Binary>();
  if (!node || !is_index_dtype(value.dtype())) return std::nullopt;
  const auto divisor = node->b.as_int();
  if (!divisor || *divisor <= 0) return std::nullopt;
  if (node->op == BinaryOp::FloorMod) return Range{Polynomial(0), Polynomial(*divisor - 1)};
  if (node->op != BinaryOp::FloorDiv) return std::nullopt;
  const Polynomial dividend = polynomial(node->a);
  const auto low = extreme(dividend, false), high = extreme(dividend, true);
  if (!low || !high || !divisible(*low, *divisor) || !divisible(*high, *divisor)) return std::nullopt;
  return Range{floor_divide(*low, *divisor), floor_divide(*high, *divisor)};
}

std::optional<Polynomial> RangeProver::extreme(Polynomial p, bool maximum) {
  const auto eliminate = [&](Polynomial::Atom atom, const Range& range) {
    if (!p.contains(atom)) return true;
    const auto split = p.split(atom);
    if (!split) return false;
    const bool rising = nonnegative(split->quotient);
    if (!rising && !nonnegative(Polynomial(0) - split->quotient)) return false;
    p = split->quotient * (rising == maximum ? range.high : range.low) + split->rest;
    return p.valid();
  };
  for (std::size_t i = opaques_.size(); i-- > 0;) {
    if (!p.contains(opaque_base + i)) continue;
    if (!opaques_[i].range || !eliminate(opaque_base + i, *opaques_[i].range)) return std::nullopt;
  }
  for (std::size_t i = loops_.size(); i-- > 0;)
    if (!eliminate(loops_[i].var.id(), loops_[i].range)) return std::nullopt;
  return p;
}

bool RangeProver::nonnegative(const Polynomial& p) {
  if (!p.valid()) return false;
  if (const auto constant = p.constant()) return *constant >= 0;
  auto low = extreme(p, false);
  if (!low || !low->valid()) return false;
  // A loop that runs has at least one iteration, so a dim that is its extent is at least one.
  for (const Loop& loop : loops_) {
    if (loop.extent.terms().size() != 1) continue;
    const auto& [monomial, coefficient] = *loop.extent.terms().begin();
    if (monomial.size() == 1 && coefficient == 1 && dimensions_.contains(monomial[0]))
      *low = low->replaced(monomial[0], Polynomial::of(monomial[0]) + Polynomial(1));
  }
  return low->valid() && std::all_of(low->terms().begin(), low->terms().end(), [&](const auto& term) {
           return term.second >= 0 && std::all_of(term.first.begin(), term.first.end(),
                                                  [&](auto atom) { return dimensions_.contains(atom); });
         });
}

bool RangeProver::in_range(const Scalar& index, const Scalar& extent) {
  const Polynomial at = polynomial(index);
  return nonnegative(at) && nonnegative(polynomial(extent) - Polynomial(1) - at);
}

bool RangeProver::nonnegative(const Scalar& value) { return nonnegative(polynomial(value)); }

std::optional<Polynomial> RangeProver::stride(const Scalar& index, const ScalarVar& loop_var) {
  const Polynomial p = polynomial(index);
  for (const auto& term : p.terms()) {
    for (const auto atom : term.first) {
      if (atom >= opaque_base && depends_on(opaques_[atom - opaque_base].value, loop_var))
        return std::nullopt;
    }
  }
  const auto split = p.split(loop_var.id());
  if (!split || !split->quotient.valid()) return std::nullopt;
  return split->quotient;
}

bool RangeProver::same(const Scalar& a, const Scalar& b) { return (polynomial(a) - polynomial(b)).is_zero(); }

bool RangeProver::depends_on(const Scalar& value, const ScalarVar& loop_var) {
  std::vector<ScalarVar> vars;
  collect_vars(value, vars);
  return std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
    if (var == loop_var) return true;
    const auto found = bound_.find(var.id());
    if (found == bound_.end()) return false;
    if (found->second.contains(loop_var.id())) return true;
    return std::any_of(found->second.terms().begin(), found->second.terms().end(), [&](const auto& term) {
      return std::any_of(term.first.begin(), term.first.end(), [&](auto atom) {
        return atom >= opaque_base && depends_on(opaques_[atom - opaque_base].value, loop_var);
      });
    });
  });
}

}  // namespace relish::jit

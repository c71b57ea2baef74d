// Range proofs by elimination: an index is a polynomial; each loop variable in it is replaced by the end of
// its range that makes the whole largest (or smallest), innermost loop first; what remains must have no
// negative term.
#include "loops/range_prover.h"

#include <algorithm>

namespace relish {
namespace {

constexpr Polynomial::Atom opaque_base = Polynomial::Atom{1} << 62;

// Arithmetic of narrow and unsigned integers wraps at values that indices reach, so it is not taken apart.
bool is_index_dtype(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

bool divisible(const Polynomial& p, std::int64_t divisor) {
  return std::all_of(p.terms().begin(), p.terms().end(),
                     [&](const auto& term) { return term.first.empty() || term.second % divisor == 0; });
}

// Every term, the constant too.
bool whole_multiple(const Polynomial& p, std::int64_t divisor) {
  return std::all_of(p.terms().begin(), p.terms().end(),
                     [&](const auto& term) { return term.second % divisor == 0; });
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
  const std::size_t opaques = opaques_.size();
  const Polynomial first = polynomial(begin);
  const Polynomial count = polynomial(extent);
  loops_.push_back(
      {var, {first, first + count - Polynomial(1)}, count, place_, given_, facts_.size(), opaques});
  // A loop that runs so many rounds of a part has something to divide into parts.
  const auto* quotient = extent.as<Binary>();
  const auto part = quotient && quotient->op == BinaryOp::FloorDiv ? quotient->b.as_int() : std::nullopt;
  if (part && *part > 0 && is_index_dtype(extent.dtype()))
    facts_.push_back(polynomial(quotient->a) - Polynomial(*part));
  place_ = proved_.next(place_, Proved::Step::Loop, var.id(), begin, extent);
  given_ = proved_.next(given_, Proved::Step::Loop, var.id(), begin, extent);
}

void RangeProver::leave_loop() {
  place_ = loops_.back().outside;
  given_ = loops_.back().given_outside;
  facts_.resize(loops_.back().facts);
  // What is known of terms inside the loop need not hold behind it, where it may not have run.
  opaques_.resize(loops_.back().opaques);
  loops_.pop_back();
}

void RangeProver::bind(const ScalarVar& var, const Scalar& value) {
  bound_[var.id()] = polynomial(value);
  place_ = proved_.next(place_, Proved::Step::Variable, var.id(), value);
  given_ = proved_.next(given_, Proved::Step::Variable, var.id(), value);
}

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
  const auto known = [&]() -> std::optional<Polynomial> {
    for (std::size_t i = 0; i < opaques_.size(); ++i)
      if (structurally_equal(opaques_[i].value, value)) return Polynomial::of(opaque_base + i);
    return std::nullopt;
  };
  if (const auto found = known()) return *found;
  // Terms inside it get their atoms first, so that eliminating the last atom never brings back a later one.
  const std::size_t uses = fact_uses_;
  Opaque made = known_of(value);
  made.by_fact = fact_uses_ != uses;
  opaques_.push_back(std::move(made));
  return Polynomial::of(opaque_base + opaques_.size() - 1);
}

RangeProver::Opaque RangeProver::known_of(const Scalar& value) {
  Opaque result{value};
  const auto* node = value.as<Binary>();
  if (!node || !is_index_dtype(value.dtype())) return result;
  if (node->op == BinaryOp::Min || node->op == BinaryOp::Max) {
    has_choices_ = true;
    (node->op == BinaryOp::Min ? result.at_most : result.at_least) = {polynomial(node->a),
                                                                      polynomial(node->b)};
    return result;
  }
  const auto divisor = node->b.as_int();
  if (!divisor || *divisor <= 0) return result;
  if (node->op == BinaryOp::FloorMod) {
    result.low = Polynomial(0);
    result.high = Polynomial(*divisor - 1);
  }
  if (node->op != BinaryOp::FloorDiv) return result;
  result.dividend = polynomial(node->a);
  result.divisor = *divisor;
  const auto low = extreme(result.dividend, false), high = extreme(result.dividend, true);
  result.not_negative = nonnegative(result.dividend);
  if (low && low->valid() && divisible(*low, *divisor))
    result.low = floor_divide(*low, *divisor);
  else if (result.not_negative)
    result.low = Polynomial(0);
  if (high && high->valid() && divisible(*high, *divisor)) result.high = floor_divide(*high, *divisor);
  has_choices_ = has_choices_ || result.low || result.high;
  return result;
}

// Puts the bound of an opaque term in its place that makes p largest (or smallest); false when none is known.
bool RangeProver::eliminate_opaque(Polynomial& p, std::size_t position, bool maximum, std::size_t choice) {
  const Opaque& term = opaques_[position];
  if (term.by_fact) ++fact_uses_;
  const auto split = p.split(opaque_base + position);
  if (!split) return false;
  const bool rising = nonnegative(split->quotient, choice);
  if (!rising && !nonnegative(Polynomial(0) - split->quotient, choice)) return false;
  const bool wants_high = rising == maximum;
  const auto& bound = wants_high ? term.high : term.low;
  const bool by_dividend = term.divisor > 0 && whole_multiple(split->quotient, term.divisor);
  if (bound && !(by_dividend && choice > 0)) {
    p = split->quotient * *bound + split->rest;
  } else if (by_dividend) {
    const Polynomial reached = wants_high ? term.dividend : term.dividend - Polynomial(term.divisor - 1);
    p = floor_divide(split->quotient, term.divisor) * reached + split->rest;
  } else if (wants_high && term.not_negative) {
    p = split->quotient * term.dividend + split->rest;
  } else if (wants_high && !term.at_most.empty()) {
    p = split->quotient * term.at_most[choice % term.at_most.size()] + split->rest;
  } else if (!wants_high && !term.at_least.empty()) {
    p = split->quotient * term.at_least[choice % term.at_least.size()] + split->rest;
  } else {
    return false;
  }
  return p.valid();
}

std::optional<Polynomial> RangeProver::extreme(Polynomial p, bool maximum, std::size_t choice) {
  // Terms that hold the loop variable go before it; others stay, since the end of the range may hold them
  // too, and then they cancel.
  const auto eliminate_terms = [&](const auto& which) {
    for (std::size_t i = opaques_.size(); i-- > 0;)
      if (p.contains(opaque_base + i) && which(i) && !eliminate_opaque(p, i, maximum, choice)) return false;
    return true;
  };
  for (std::size_t k = loops_.size(); k-- > 0;) {
    const Polynomial::Atom atom = loops_[k].var.id();
    if (!eliminate_terms([&](std::size_t i) { return holds(i, atom); })) return std::nullopt;
    if (!p.contains(atom)) continue;
    const auto split = p.split(atom);
    if (!split) return std::nullopt;
    const bool rising = nonnegative(split->quotient, choice);
    if (!rising && !nonnegative(Polynomial(0) - split->quotient, choice)) return std::nullopt;
    const Range& range = loops_[k].range;
    p = split->quotient * (rising == maximum ? range.high : range.low) + split->rest;
    if (!p.valid()) return std::nullopt;
  }
  if (!eliminate_terms([](std::size_t) { return true; })) return std::nullopt;
  return p;
}

// Whether the bounds of an opaque term are in terms of the atom, by whatever other terms: each is looked at
// once.
bool RangeProver::holds(std::size_t position, Polynomial::Atom atom) const {
  std::vector<bool> seen(opaques_.size());
  std::vector<std::size_t> open{position};
  seen[position] = true;
  bool found = false;
  const auto look_at = [&](const Polynomial& p) {
    for (const auto& term : p.terms()) {
      for (const Polynomial::Atom each : term.first) {
        found = found || each == atom;
        if (each < opaque_base || seen[each - opaque_base]) continue;
        seen[each - opaque_base] = true;
        open.push_back(each - opaque_base);
      }
    }
  };
  while (!found && !open.empty()) {
    const Opaque& term = opaques_[open.back()];
    open.pop_back();
    look_at(term.dividend);
    for (const Polynomial& most : term.at_most) look_at(most);
    for (const Polynomial& least : term.at_least) look_at(least);
  }
  return found;
}

bool RangeProver::nonnegative(const Polynomial& p) {
  // A minimum is at most either of its two sides, a maximum at least, a quotient has two bounds; which of
  // them proves it is tried.
  const auto shown = [&](const Polynomial& each) {
    return nonnegative(each, 0) || (has_choices_ && nonnegative(each, 1));
  };
  if (shown(p)) return true;
  if (std::none_of(facts_.begin(), facts_.end(), [&](const Polynomial& fact) { return shown(p - fact); }))
    return false;
  ++fact_uses_;
  return true;
}

std::size_t RangeProver::assume(const Scalar& condition) {
  assumed_.push_back({facts_.size(), opaques_.size(), place_});
  assume_all(condition);
  // Of a condition that says nothing of integers, what was shown holds as it did before.
  if (facts_.size() > assumed_.back().facts)
    place_ = proved_.next(place_, Proved::Step::Condition, 0, condition);
  return assumed_.size() - 1;
}

void RangeProver::assume_all(const Scalar& condition) {
  if (const auto* both = condition.as<Logical>(); both && both->op == LogicalOp::And) {
    assume_all(both->a);
    assume_all(both->b);
  }
  const auto* compared = condition.as<Compare>();
  if (!compared || is_float(compared->a.dtype()) || is_float(compared->b.dtype())) return;
  const Polynomial difference = polynomial(compared->a) - polynomial(compared->b);
  const Polynomial none(0), one(1);
  switch (compared->op) {
    case CompareOp::Ge:
      facts_.push_back(difference);
      break;
    case CompareOp::Gt:
      facts_.push_back(difference - one);
      break;
    case CompareOp::Le:
      facts_.push_back(none - difference);
      break;
    case CompareOp::Lt:
      facts_.push_back(none - difference - one);
      break;
    case CompareOp::Eq:
      facts_.push_back(difference);
      facts_.push_back(none - difference);
      break;
    case CompareOp::Ne:
      break;
  }
}

void RangeProver::forget(std::size_t conditions) {
  for (; assumed_.size() > conditions; assumed_.pop_back()) {
    const Assumed& last = assumed_.back();
    facts_.resize(last.facts);
    // What is known of terms where the condition holds need not hold elsewhere.
    opaques_.resize(last.opaques);
    place_ = last.place;
  }
}

bool RangeProver::nonnegative(const Polynomial& p, std::size_t choice) {
  if (!p.valid()) return false;
  if (const auto constant = p.constant()) return *constant >= 0;
  auto low = extreme(p, false, choice);
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
  if (proved_.holds(given_, index, extent)) return true;
  const std::size_t uses = fact_uses_;
  if (proved_.holds(place_, index, extent)) {
    ++fact_uses_;
    return true;
  }
  const bool shown = shown_in_range(index, extent);
  // What is not shown may be later, when more terms are known.
  if (shown) proved_.note(fact_uses_ == uses ? given_ : place_, index, extent);
  return shown;
}

bool RangeProver::shown_in_range(const Scalar& index, const Scalar& extent) {
  // What is read again behind the last element, or before the first one, has that as the one side.
  const auto* limited = index.as<Binary>();
  if (limited && (limited->op == BinaryOp::Min || limited->op == BinaryOp::Max)) {
    const Polynomial last = polynomial(extent) - Polynomial(1), a = polynomial(limited->a),
                     b = polynomial(limited->b);
    const bool first_a = nonnegative(a), first_b = nonnegative(b), last_a = nonnegative(last - a),
               last_b = nonnegative(last - b);
    return limited->op == BinaryOp::Min ? first_a && first_b && (last_a || last_b)
                                        : (first_a || first_b) && last_a && last_b;
  }
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

void assume_sizes(const PrimFunc& function, RangeProver& prover) {
  for (const PrimParam& param : function.params) {
    if (!param.buffer()) continue;
    for (const Scalar& dim : param.buffer()->shape())
      if (const auto var = dim.as_var()) prover.assume_dimension(*var);
  }
}

}  // namespace relish

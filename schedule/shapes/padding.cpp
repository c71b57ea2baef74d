// Comparisons of sums of two axes become bounds of one of them, which are then tried at all places.
#include "schedule/shapes/padding.h"

#include <algorithm>
#include <cstdlib>

#include "schedule/shapes/counted_conditions.h"

namespace relish {
namespace {

// So many places and terms are tried at most.
constexpr std::int64_t most_tried = 1 << 12;
// Larger numbers are nobody's padding, and their products need not fit.
constexpr std::int64_t largest = std::int64_t{1} << 40;

bool is_of(const ScalarVar& var, const Axis& axis) { return var == axis.var || var == axis.loop->var; }

// Whether the condition uses both axes and nothing else.
bool joins(const Scalar& condition, const Axis& along, const Axis& term) {
  std::vector<ScalarVar> vars;
  collect_vars(condition, vars);
  const auto some = [&](const Axis& axis) {
    return std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) { return is_of(var, axis); });
  };
  return some(along) && some(term) && std::all_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
           return is_of(var, along) || is_of(var, term);
         });
}

Places at(const Axis& along, std::int64_t place, const Axis& term, std::int64_t number) {
  return {{along.var, place}, {along.loop->var, place}, {term.var, number}, {term.loop->var, number}};
}

// What the comparison asks, if it is that at these corners; elsewhere it may ask something else.
std::optional<TermBound> bound_of(const Scalar& condition, const Axis& along, const Axis& term) {
  const auto* compared = condition.as<Compare>();
  if (!compared || is_float(compared->a.dtype())) return std::nullopt;
  const auto difference = [&](std::int64_t place, std::int64_t number) -> std::optional<std::int64_t> {
    const auto a = number_at(compared->a, at(along, place, term, number)),
               b = number_at(compared->b, at(along, place, term, number));
    std::int64_t result = 0;
    const bool fits = a && b && !__builtin_sub_overflow(*a, *b, &result) && std::abs(result) < largest;
    return fits ? std::optional(result) : std::nullopt;
  };
  const auto zero = difference(0, 0), next_place = difference(1, 0), next_term = difference(0, 1);
  if (!zero || !next_place || !next_term) return std::nullopt;
  const bool turned = compared->op == CompareOp::Lt || compared->op == CompareOp::Le;
  const bool strict = compared->op == CompareOp::Lt || compared->op == CompareOp::Gt;
  const std::int64_t sign = turned ? -1 : 1;
  return TermBound{sign * (*next_place - *zero), sign * (*next_term - *zero),
                   sign * *zero - (strict ? 1 : 0)};
}

// How many terms count at all places together. None where the bounds do not hold exactly where the conditions
// do, or a place has no term.
std::optional<std::int64_t> seen_by(const std::vector<Scalar>& conditions,
                                    const std::vector<TermBound>& bounds, const Axis& along,
                                    const Axis& term) {
  std::int64_t seen = 0;
  for (std::int64_t place = 0; place < extent_of(&along); ++place) {
    const std::int64_t before = seen;
    for (std::int64_t number = 0; number < extent_of(&term); ++number) {
      bool within = true;
      for (std::size_t i = 0; i < bounds.size(); ++i) {
        const bool one = bounds[i].holds(place, number);
        if (holds_at(conditions[i], at(along, place, term, number)) != one) return std::nullopt;
        within = within && one;
      }
      seen += within ? 1 : 0;
    }
    if (seen == before) return std::nullopt;
  }
  return seen;
}

}  // namespace

std::optional<PaddedTerms> padded_terms(const Scalar& guard, const Axis& along, const Axis& term) {
  const auto places = along.loop->extent.as_int(), terms = term.loop->extent.as_int();
  PaddedTerms asked;
  if (!places || !terms || __builtin_mul_overflow(*places, *terms, &asked.all) || asked.all > most_tried)
    return std::nullopt;
  std::vector<Scalar> conditions;
  for (const Scalar& condition : conditions_of(guard)) {
    if (!joins(condition, along, term)) continue;
    const auto bound = bound_of(condition, along, term);
    if (!bound || bound->b == 0) return std::nullopt;
    conditions.push_back(condition);
    asked.bounds.push_back(*bound);
  }
  if (conditions.empty()) return std::nullopt;
  const auto seen = seen_by(conditions, asked.bounds, along, term);
  if (!seen || *seen == asked.all) return std::nullopt;
  asked.seen = *seen;
  return asked;
}

double seen_share(const Scalar& guard, const Axis& along, const Axis& term) {
  const auto padded = padded_terms(guard, along, term);
  return padded ? static_cast<double>(padded->seen) / static_cast<double>(padded->all) : 1;
}

}  // namespace relish

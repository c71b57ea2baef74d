// Comparisons of sums of two axes become bounds of one of them, which are then tried at all places.
#include "schedule/contraction_padding.h"

#include <algorithm>

#include "schedule/counted_conditions.h"

namespace relish {
namespace {

// So many places and terms are tried at most.
constexpr std::int64_t most_tried = 1 << 16;

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

// a * along + b * term + c >= 0
struct Bound {
  std::int64_t a, b, c;
  bool holds(std::int64_t along, std::int64_t term) const { return a * along + b * term + c >= 0; }
};

// What the comparison asks, if it is that at these corners; elsewhere it may ask something else.
std::optional<Bound> bound_of(const Scalar& condition, const Axis& along, const Axis& term) {
  const auto* compared = condition.as<Compare>();
  if (!compared || is_float(compared->a.dtype())) return std::nullopt;
  const auto difference = [&](std::int64_t place, std::int64_t number) -> std::optional<std::int64_t> {
    const auto a = number_at(compared->a, at(along, place, term, number)),
               b = number_at(compared->b, at(along, place, term, number));
    std::int64_t result = 0;
    return a && b && !__builtin_sub_overflow(*a, *b, &result) ? std::optional(result) : std::nullopt;
  };
  const auto zero = difference(0, 0), next_place = difference(1, 0), next_term = difference(0, 1);
  if (!zero || !next_place || !next_term) return std::nullopt;
  const bool turned = compared->op == CompareOp::Lt || compared->op == CompareOp::Le;
  const bool strict = compared->op == CompareOp::Lt || compared->op == CompareOp::Gt;
  const std::int64_t sign = turned ? -1 : 1;
  return Bound{sign * (*next_place - *zero), sign * (*next_term - *zero), sign * *zero - (strict ? 1 : 0)};
}

// The bound as the first of the terms, or as what is behind the last one.
Scalar as_limit(const BlockText& text, const Bound& bound, const Scalar& place) {
  const std::int64_t each = bound.b < 0 ? -bound.b : bound.b;
  // b > 0: term >= (-a * along - c) / b, rounded up; b < 0: term <= (a * along + c) / -b, rounded down.
  const std::int64_t a = bound.b < 0 ? bound.a : -bound.a;
  const std::int64_t c = bound.b < 0 ? bound.c + each : each - 1 - bound.c;
  const Scalar moved = a < 0 ? text.number(c) - text.times(place, -a) : text.times(place, a) + text.number(c);
  return each == 1 ? moved : floor_div(moved, text.number(each));
}

// How many terms count at all places together. None where the bounds do not hold exactly where the conditions
// do, or a place has no term.
std::optional<std::int64_t> seen_by(const std::vector<Scalar>& conditions, const std::vector<Bound>& bounds,
                                    const Axis& along, const Axis& term) {
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

// What a guard asks of two axes.
struct Asked {
  std::vector<Bound> bounds;
  std::int64_t seen = 0, all = 0;  // terms that count, and all of them, at all places together
};

// None where it leaves none out, or that takes no bounds.
std::optional<Asked> asked_of(const Scalar& guard, const Axis& along, const Axis& term) {
  const auto places = along.loop->extent.as_int(), terms = term.loop->extent.as_int();
  Asked asked;
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

}  // namespace

std::optional<SeenTerms> seen_terms(const BlockText& text, const Scalar& guard, const Axis& along,
                                    const Scalar& place, const Axis& term) {
  const auto asked = asked_of(guard, along, term);
  if (!asked) return std::nullopt;
  Scalar begin = text.number(0), end = text.number(extent_of(&term));
  for (const Bound& bound : asked->bounds) {
    const Scalar limit = as_limit(text, bound, place);
    if (bound.b < 0)
      end = min(end, limit);
    else
      begin = max(begin, limit);
  }
  return SeenTerms{begin, end - begin};
}

double seen_share(const Scalar& guard, const Axis& along, const Axis& term) {
  const auto asked = asked_of(guard, along, term);
  return asked ? static_cast<double>(asked->seen) / static_cast<double>(asked->all) : 1;
}

}  // namespace relish

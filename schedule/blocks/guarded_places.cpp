// Every part of the guard is looked at: one that compares numbers and a single place is tried at all of them.
#include "schedule/blocks/guarded_places.h"

#include <algorithm>

#include "loops/accesses.h"

namespace relish {
namespace {

void collect_conditions(const Scalar& guard, std::vector<Scalar>& into) {
  const auto* both = guard.as<Logical>();
  if (!both || both->op != LogicalOp::And) {
    into.push_back(guard);
    return;
  }
  collect_conditions(both->a, into);
  collect_conditions(both->b, into);
}

// The number that a sum or product of numbers and the place is; none when it is something else.
std::optional<std::int64_t> at_place(const Scalar& value, const ScalarVar& place, std::int64_t at) {
  if (const auto number = value.as_int()) return number;
  if (value.as_var() == std::optional(place)) return at;
  const auto* node = value.as<Binary>();
  if (!node) return std::nullopt;
  const auto a = at_place(node->a, place, at), b = at_place(node->b, place, at);
  if (!a || !b) return std::nullopt;
  std::int64_t result = 0;
  const bool whole = (node->op == BinaryOp::Add && !__builtin_add_overflow(*a, *b, &result)) ||
                     (node->op == BinaryOp::Sub && !__builtin_sub_overflow(*a, *b, &result)) ||
                     (node->op == BinaryOp::Mul && !__builtin_mul_overflow(*a, *b, &result));
  return whole ? std::optional(result) : std::nullopt;
}

std::optional<bool> holds_at(const Scalar& condition, const ScalarVar& place, std::int64_t at) {
  const auto* compared = condition.as<Compare>();
  if (!compared || is_float(compared->a.dtype())) return std::nullopt;
  const auto a = at_place(compared->a, place, at), b = at_place(compared->b, place, at);
  if (!a || !b) return std::nullopt;
  switch (compared->op) {
    case CompareOp::Lt:
      return *a < *b;
    case CompareOp::Le:
      return *a <= *b;
    case CompareOp::Gt:
      return *a > *b;
    case CompareOp::Ge:
      return *a >= *b;
    default:
      return std::nullopt;
  }
}

// Takes the places at which the condition does not hold from the ends of the loop. Comparisons of what grows
// with a place hold from one on, or up to one.
bool narrows(PlaceBounds& place, const Scalar& condition) {
  const auto fails_at = [&](std::int64_t at) { return holds_at(condition, place.var, at) == false; };
  if (!holds_at(condition, place.var, place.begin)) return false;
  while (place.extent > 0 && fails_at(place.begin)) ++place.begin, --place.extent;
  while (place.extent > 0 && fails_at(place.begin + place.extent - 1)) --place.extent;
  return true;
}

}  // namespace

std::optional<GuardedPlaces> guarded_places(const Scalar& read, const std::vector<PlaceBounds>& all) {
  GuardedPlaces result{all, std::vector<Scalar>(all.size()), read};
  const auto* chosen = read.as<Select>();
  if (!chosen) return result;
  result.value = chosen->a;
  std::vector<Scalar> conditions;
  collect_conditions(chosen->condition, conditions);
  for (const Scalar& condition : conditions) {
    std::vector<ScalarVar> vars;
    collect_vars(condition, vars);
    const auto uses = [&](const PlaceBounds& place) {
      return std::find(vars.begin(), vars.end(), place.var) != vars.end();
    };
    const auto used = std::find_if(result.bounds.begin(), result.bounds.end(), uses);
    const bool alone = std::all_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
      return used != result.bounds.end() && var == used->var;
    });
    if (alone && used != result.bounds.end() && narrows(*used, condition)) {
      if (used->extent == 0) return std::nullopt;
      continue;
    }
    std::size_t last = result.bounds.size() - 1;
    while (last > 0 && !uses(result.bounds[last])) --last;
    Scalar& guard = result.guards[last];
    guard = guard.defined() ? logical(LogicalOp::And, guard, condition) : condition;
  }
  return result;
}

}  // namespace relish

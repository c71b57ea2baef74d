// Numbers of sums and products, and comparisons of them.
#include "schedule/shapes/counted_conditions.h"

#include <algorithm>

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

}  // namespace

std::vector<Scalar> conditions_of(const Scalar& guard) {
  std::vector<Scalar> conditions;
  if (guard.defined()) collect_conditions(guard, conditions);
  return conditions;
}

std::optional<std::int64_t> number_at(const Scalar& value, const Places& places) {
  if (const auto number = value.as_int()) return number;
  if (const auto var = value.as_var()) {
    const auto found =
        std::find_if(places.begin(), places.end(), [&](const auto& place) { return place.first == *var; });
    return found == places.end() ? std::nullopt : std::optional(found->second);
  }
  const auto* node = value.as<Binary>();
  if (!node) return std::nullopt;
  const auto a = number_at(node->a, places), b = number_at(node->b, places);
  if (!a || !b) return std::nullopt;
  std::int64_t result = 0;
  const bool whole = (node->op == BinaryOp::Add && !__builtin_add_overflow(*a, *b, &result)) ||
                     (node->op == BinaryOp::Sub && !__builtin_sub_overflow(*a, *b, &result)) ||
                     (node->op == BinaryOp::Mul && !__builtin_mul_overflow(*a, *b, &result));
  return whole ? std::optional(result) : std::nullopt;
}

std::optional<bool> holds_at(const Scalar& condition, const Places& places) {
  const auto* compared = condition.as<Compare>();
  if (!compared || is_float(compared->a.dtype())) return std::nullopt;
  const auto a = number_at(compared->a, places), b = number_at(compared->b, places);
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

}  // namespace relish

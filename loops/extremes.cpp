// Recognising maxima and minima.
#include "loops/extremes.h"

namespace relish {

std::optional<Extreme> as_extreme(const Select& node) {
  const auto* compare = node.condition.as<Compare>();
  if (!compare || (compare->op != CompareOp::Gt && compare->op != CompareOp::Lt)) return std::nullopt;
  const Scalar &a = compare->a, &b = compare->b;
  const auto* inner = node.b.as<Select>();
  if (!inner || !is_float(a.dtype()) || a.dtype() != b.dtype()) return std::nullopt;
  if (!structurally_equal(node.a, a) || !structurally_equal(inner->a, b)) return std::nullopt;
  const bool largest = compare->op == CompareOp::Gt;
  const Scalar made = largest ? maximum_ieee(a, b) : minimum_ieee(a, b);
  const auto* whole = made.as<Select>();
  if (!whole || whole->lazy != node.lazy || !structurally_equal(whole->b, node.b)) return std::nullopt;
  return Extreme{largest, a, b};
}

}  // namespace relish

// Values by lanes.
#include "schedule/nests/lanes.h"

#include "loops/accesses.h"

namespace relish {

bool computed_by_lanes(const Scalar& value, const Axis& axis, DType dtype, RangeProver& prover) {
  if (!prover.depends_on(value, axis.loop->var)) return true;
  if (value.dtype() != dtype) return false;
  if (const auto* load = value.as<Load>())
    return pace_of(*load->buffer, load->indices, axis.loop->var, prover) == Pace::Along;
  const auto* n = value.as<Binary>();
  return n && (n->op == BinaryOp::Add || n->op == BinaryOp::Sub || n->op == BinaryOp::Mul) &&
         computed_by_lanes(n->a, axis, dtype, prover) && computed_by_lanes(n->b, axis, dtype, prover);
}

}  // namespace relish

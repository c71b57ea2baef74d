// What can fail.
#include "loops/faults.h"

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"

namespace relish {

bool operation_may_fault(const Scalar& value) {
  const auto* node = value.as<Binary>();
  if (!node || is_float(value.dtype())) return false;
  switch (node->op) {
    case BinaryOp::Div:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      return node->b.as_int().value_or(0) == 0;
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight:
      return is_signed_int(value.dtype()) && node->b.as_int().value_or(-1) < 0;
    default:
      return false;
  }
}

bool operation_may_fault(const Scalar& value, RangeProver& prover) {
  if (!operation_may_fault(value)) return false;
  const auto* node = value.as<Binary>();
  const bool shifts = node->op == BinaryOp::ShiftLeft || node->op == BinaryOp::ShiftRight;
  const bool counted = value.dtype() == DType::Int32 || value.dtype() == DType::Int64;
  return !shifts || !counted || !prover.nonnegative(node->b);
}

bool may_fault(const Scalar& value, RangeProver& prover) {
  if (const auto* load = value.as<Load>()) {
    for (std::size_t d = 0; d < load->indices.size(); ++d)
      if (!prover.in_range(load->indices[d], load->buffer->shape()[d])) return true;
  }
  if (operation_may_fault(value, prover)) return true;
  if (const auto* chosen = value.as<Select>(); chosen && chosen->lazy) {
    if (may_fault(chosen->condition, prover) || may_fault(chosen->b, prover)) return true;
    const std::size_t facts = prover.assume(chosen->condition);
    const bool faults = may_fault(chosen->a, prover);
    prover.forget(facts);
    return faults;
  }
  bool found = false;
  for_each_operand(value, [&](const Scalar& operand) { found = found || may_fault(operand, prover); });
  return found;
}

bool may_fault(const PrimFunc& function) {
  bool found = false;
  for_each_stmt(function.body, [&](const Stmt& stmt) { found |= stmt.as<AssertStmt>() != nullptr; });
  for_each_scalar(function.body, [&](const Scalar& scalar) { found |= operation_may_fault(scalar); });
  return found;
}

}  // namespace relish

// What can fail.
#include "loops/faults.h"

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"

namespace relish {

namespace {

bool divides(BinaryOp op) {
  return op == BinaryOp::Div || op == BinaryOp::TruncMod || op == BinaryOp::FloorDiv ||
         op == BinaryOp::FloorMod;
}

}  // namespace

bool operation_may_fault(const Scalar& value) {
  const auto* node = value.as<Binary>();
  if (!node || is_float(value.dtype())) return false;
  if (divides(node->op)) return node->b.as_int().value_or(0) == 0;
  switch (node->op) {
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

bool may_divide_by_zero(const Scalar& value) {
  bool found = false;
  for_each_scalar(value, [&](const Scalar& part) {
    const auto* node = part.as<Binary>();
    found = found || (node && divides(node->op) && operation_may_fault(part));
  });
  return found;
}

bool may_fault(const Scalar& value, RangeProver& prover) {
  if (const auto* load = value.as<Load>()) {
    for (std::size_t d = 0; d < load->indices.size(); ++d)
      if (!prover.in_range(load->indices[d], load->buffer->shape()[d])) return true;
  }
  if (operation_may_fault(value, prover)) return true;
  // Who emits choices within choices asks for each of them: what the outer one showed of those inside holds.
  if (const auto* chosen = value.as<Select>(); chosen && chosen->lazy) {
    if (prover.knows_safe(value)) return false;
    const std::size_t uses = prover.fact_uses();
    if (may_fault(chosen->condition, prover) || may_fault(chosen->b, prover)) return true;
    const std::size_t facts = prover.assume(chosen->condition);
    const bool faults = may_fault(chosen->a, prover);
    prover.forget(facts);
    if (!faults) prover.note_safe(value, uses);
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

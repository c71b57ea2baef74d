// Integer arithmetic in LLVM IR.
#include "jit/engine/integer_code.h"

#include "support/failure.h"

namespace relish::jit {

llvm::Value* divided(llvm::IRBuilder<>& builder, BinaryOp op, llvm::Value* a, llvm::Value* b, bool is_signed,
                     bool positive) {
  const bool remainder = op == BinaryOp::TruncMod || op == BinaryOp::FloorMod;
  const bool floored = op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
  if (!is_signed) return remainder ? builder.CreateURem(a, b) : builder.CreateUDiv(a, b);

  llvm::Type* type = a->getType();
  llvm::Value* zero = llvm::ConstantInt::get(type, 0);
  llvm::Value* one = llvm::ConstantInt::get(type, 1);
  llvm::Value* by_minus_one = builder.CreateICmpEQ(b, llvm::ConstantInt::getSigned(type, -1));
  llvm::Value* safe = positive ? b : builder.CreateSelect(by_minus_one, one, b);
  llvm::Value* quotient = builder.CreateSDiv(a, safe);
  llvm::Value* rest = builder.CreateSRem(a, safe);
  if (!positive) {
    quotient = builder.CreateSelect(by_minus_one, builder.CreateSub(zero, a), quotient);
    rest = builder.CreateSelect(by_minus_one, zero, rest);
  }
  if (!floored) return remainder ? rest : quotient;
  llvm::Value* signs_differ =
      builder.CreateXor(builder.CreateICmpSLT(rest, zero), builder.CreateICmpSLT(b, zero));
  llvm::Value* adjust = builder.CreateAnd(builder.CreateIsNotNull(rest), signs_differ);
  if (remainder) return builder.CreateSelect(adjust, builder.CreateAdd(rest, b), rest);
  return builder.CreateSelect(adjust, builder.CreateSub(quotient, one), quotient);
}

llvm::Value* shifted(llvm::IRBuilder<>& builder, BinaryOp op, llvm::Value* a, llvm::Value* b, bool is_signed,
                     unsigned width) {
  llvm::Type* type = a->getType();
  llvm::Value* last = llvm::ConstantInt::get(type, width - 1);
  llvm::Value* too_far = builder.CreateICmpUGT(b, last);
  llvm::Value* by = builder.CreateSelect(too_far, last, b);
  if (op == BinaryOp::ShiftRight && is_signed) return builder.CreateAShr(a, by);
  llvm::Value* moved = op == BinaryOp::ShiftLeft ? builder.CreateShl(a, by) : builder.CreateLShr(a, by);
  return builder.CreateSelect(too_far, llvm::ConstantInt::get(type, 0), moved);
}

llvm::Value* compared(llvm::IRBuilder<>& builder, CompareOp op, llvm::Value* a, llvm::Value* b,
                      bool is_signed) {
  using P = llvm::CmpInst::Predicate;
  switch (op) {
    case CompareOp::Eq:
      return builder.CreateICmpEQ(a, b);
    case CompareOp::Ne:
      return builder.CreateICmpNE(a, b);
    case CompareOp::Lt:
      return builder.CreateICmp(is_signed ? P::ICMP_SLT : P::ICMP_ULT, a, b);
    case CompareOp::Le:
      return builder.CreateICmp(is_signed ? P::ICMP_SLE : P::ICMP_ULE, a, b);
    case CompareOp::Gt:
      return builder.CreateICmp(is_signed ? P::ICMP_SGT : P::ICMP_UGT, a, b);
    case CompareOp::Ge:
      return builder.CreateICmp(is_signed ? P::ICMP_SGE : P::ICMP_UGE, a, b);
  }
  RELISH_CHECK(false, "comparison");
}

}  // namespace relish::jit

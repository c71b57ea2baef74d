// Instructions of the lanes' operations.
#include "jit/math/lane.h"

#include <llvm/IR/Intrinsics.h>

namespace relish::jit {
namespace {

Number unary(llvm::Intrinsic::ID operation, Number a) {
  return {a.at, a.at->builder.CreateUnaryIntrinsic(operation, a.value)};
}

// The type of `value` with other elements.
llvm::Type* with_elements(llvm::Value* value, llvm::Type* element) {
  return value->getType()->getWithNewType(element);
}

llvm::IRBuilder<>& builder_of(Number a) { return a.at->builder; }
llvm::IRBuilder<>& builder_of(Bits a) { return a.at->builder; }

}  // namespace

Flag operator&(Flag a, Flag b) { return {a.at, a.at->builder.CreateAnd(a.value, b.value)}; }
Flag operator|(Flag a, Flag b) { return {a.at, a.at->builder.CreateOr(a.value, b.value)}; }
Flag operator!(Flag a) { return {a.at, a.at->builder.CreateNot(a.value)}; }

Number operator+(Number a, Number b) { return {a.at, builder_of(a).CreateFAdd(a.value, b.value)}; }
Number operator-(Number a, Number b) { return {a.at, builder_of(a).CreateFSub(a.value, b.value)}; }
Number operator*(Number a, Number b) { return {a.at, builder_of(a).CreateFMul(a.value, b.value)}; }
Number operator/(Number a, Number b) { return {a.at, builder_of(a).CreateFDiv(a.value, b.value)}; }
Number operator-(Number a) { return {a.at, builder_of(a).CreateFNeg(a.value)}; }

Flag operator<(Number a, Number b) { return {a.at, builder_of(a).CreateFCmpOLT(a.value, b.value)}; }
Flag operator>(Number a, Number b) { return {a.at, builder_of(a).CreateFCmpOGT(a.value, b.value)}; }
Flag operator==(Number a, Number b) { return {a.at, builder_of(a).CreateFCmpOEQ(a.value, b.value)}; }
Flag operator!=(Number a, Number b) { return {a.at, builder_of(a).CreateFCmpUNE(a.value, b.value)}; }

Number fused(Number a, Number b, Number c) {
  if (!a.at->fma) return a * b + c;
  return {a.at, builder_of(a).CreateIntrinsic(llvm::Intrinsic::fma, {a.value->getType()},
                                              {a.value, b.value, c.value})};
}

Number select(Flag condition, Number a, Number b) {
  return {a.at, builder_of(a).CreateSelect(condition.value, a.value, b.value)};
}

Number magnitude(Number a) { return unary(llvm::Intrinsic::fabs, a); }
Number root(Number a) { return unary(llvm::Intrinsic::sqrt, a); }
Number to_nearest(Number a) { return unary(llvm::Intrinsic::roundeven, a); }
Number truncated(Number a) { return unary(llvm::Intrinsic::trunc, a); }

Number with_sign_of(Number a, Number sign) {
  return {a.at, builder_of(a).CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a.value, sign.value)};
}

Number widened(Number a) {
  llvm::IRBuilder<>& builder = builder_of(a);
  return {a.at, builder.CreateFPExt(a.value, with_elements(a.value, builder.getDoubleTy()))};
}

Number narrowed(Number a) {
  llvm::IRBuilder<>& builder = builder_of(a);
  return {a.at, builder.CreateFPTrunc(a.value, with_elements(a.value, builder.getFloatTy()))};
}

Bits bits_of(Number a) {
  llvm::IRBuilder<>& builder = builder_of(a);
  llvm::Type* bits = builder.getIntNTy(a.single() ? 32 : 64);
  return {a.at, builder.CreateBitCast(a.value, with_elements(a.value, bits))};
}

Number number_of(Bits a) {
  llvm::IRBuilder<>& builder = builder_of(a);
  llvm::Type* number = a.single() ? builder.getFloatTy() : builder.getDoubleTy();
  return {a.at, builder.CreateBitCast(a.value, with_elements(a.value, number))};
}

Bits operator+(Bits a, Bits b) { return {a.at, builder_of(a).CreateAdd(a.value, b.value)}; }
Bits operator-(Bits a, Bits b) { return {a.at, builder_of(a).CreateSub(a.value, b.value)}; }
Bits operator&(Bits a, std::int64_t mask) {
  return {a.at, builder_of(a).CreateAnd(a.value, a.of(mask).value)};
}
Bits operator|(Bits a, Bits b) { return {a.at, builder_of(a).CreateOr(a.value, b.value)}; }
Bits operator<<(Bits a, int count) { return {a.at, builder_of(a).CreateShl(a.value, a.of(count).value)}; }
Bits operator>>(Bits a, int count) { return {a.at, builder_of(a).CreateLShr(a.value, a.of(count).value)}; }

Flag operator==(Bits a, std::int64_t b) { return {a.at, builder_of(a).CreateICmpEQ(a.value, a.of(b).value)}; }

}  // namespace relish::jit

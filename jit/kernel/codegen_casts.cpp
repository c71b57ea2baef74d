// Code generation of casts between the dtypes of scalar expressions.
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "jit/kernel/codegen_scalar.h"

namespace relish::jit {

// A double as a float that rounds to halves as the double does: the nearest one towards zero, with the last
// bit set when it is another number. A float has more than two bits more than a half, so that bit is never
// one of the half's, nor the one that decides alone.
llvm::Value* ScalarEmitter::odd_float(llvm::Value* value) {
  llvm::Value* nearest = builder_.CreateFPTrunc(value, builder_.getFloatTy());
  llvm::Value* back = builder_.CreateFPExt(nearest, builder_.getDoubleTy());
  const auto size = [&](llvm::Value* number) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::fabs, {number->getType()}, {number});
  };
  llvm::Type* i32 = builder_.getInt32Ty();
  llvm::Value* beyond = builder_.CreateZExt(builder_.CreateFCmpOGT(size(back), size(value)), i32);
  llvm::Value* other = builder_.CreateZExt(builder_.CreateFCmpONE(back, value), i32);
  llvm::Value* bits = builder_.CreateSub(builder_.CreateBitCast(nearest, i32), beyond);
  return builder_.CreateBitCast(builder_.CreateOr(bits, other), builder_.getFloatTy());
}

// LLVM 19 narrows the comparison of a widened half to one of halves, for which processors have no
// instruction: of floats their bits tell.
llvm::Value* ScalarEmitter::is_nan(llvm::Value* value) {
  if (!value->getType()->isFloatTy()) return builder_.CreateFCmpUNO(value, value);
  llvm::Value* bits = builder_.CreateBitCast(value, builder_.getInt32Ty());
  return builder_.CreateICmpUGT(builder_.CreateAnd(bits, builder_.getInt32(0x7FFFFFFF)),
                                builder_.getInt32(0x7F800000));
}

// The nearest integer towards zero; of NaN it is 0. LLVM's own operation is taken apart into lanes by its
// vectors, and into branches by its blocks.
llvm::Value* ScalarEmitter::saturated(llvm::Value* value, DType to) {
  llvm::Type *type = register_type(to), *real = value->getType();
  const unsigned width = type->getScalarSizeInBits();
  const bool is_signed = is_signed_int(to);
  const llvm::APInt most =
      is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
  const double least = is_signed ? -std::ldexp(1.0, static_cast<int>(width) - 1) : 0.0;
  const double beyond = std::ldexp(1.0, static_cast<int>(width) - (is_signed ? 1 : 0));
  const auto number = [&](double of) { return llvm::ConstantFP::get(real, of); };
  const auto integer = [&](llvm::Value* within) {
    return is_signed ? builder_.CreateFPToSI(within, type) : builder_.CreateFPToUI(within, type);
  };
  // Also of NaN the least, which is 0 without signs.
  llvm::Value* raised =
      builder_.CreateSelect(builder_.CreateFCmpOGT(value, number(least)), value, number(least));
  llvm::Value* result = nullptr;
  if (static_cast<int>(width) < real->getScalarType()->getFPMantissaWidth()) {
    result = integer(builder_.CreateSelect(builder_.CreateFCmpOLT(raised, number(beyond - 1)), raised,
                                           number(beyond - 1)));
  } else {
    // The largest integer is no number of this type.
    llvm::Value* below = builder_.CreateFCmpOLT(raised, number(beyond));
    result = builder_.CreateSelect(below, integer(builder_.CreateSelect(below, raised, number(least))),
                                   llvm::ConstantInt::get(type, most));
  }
  if (!is_signed) return result;
  return builder_.CreateSelect(is_nan(value), llvm::ConstantInt::get(type, 0), result);
}

llvm::Value* ScalarEmitter::cast(llvm::Value* value, DType from, DType to) {
  if (from == to) return value;
  llvm::Type* type = register_type(to);
  if (is_float(from)) {
    if (is_bool(to)) return builder_.CreateFCmpUNE(value, llvm::ConstantFP::get(value->getType(), 0.0));
    if (!is_float(to)) return saturated(value, to);
    if (to == DType::Float64) return builder_.CreateFPExt(value, type);
    if (from != DType::Float64) return rounded(value, to);
    if (to == DType::Float32) return builder_.CreateFPTrunc(value, type);
  }
  if (is_float(to)) {
    // An integer that a float does not hold exactly is larger than any float16, before that rounding and
    // behind.
    const bool exact_in_float = is_bool(from) || size_of(from) <= 2 || to == DType::Float16;
    llvm::Type* through =
        to == DType::Float32 || to == DType::Float64 || exact_in_float ? type : builder_.getDoubleTy();
    if (!is_float(from)) {
      value =
          is_signed_int(from) ? builder_.CreateSIToFP(value, through) : builder_.CreateUIToFP(value, through);
      if (through == type) return rounded(value, to);
    }
    return rounded(odd_float(value), to);
  }
  if (is_bool(to)) return builder_.CreateIsNotNull(value);
  return is_signed_int(from) ? builder_.CreateSExtOrTrunc(value, type)
                             : builder_.CreateZExtOrTrunc(value, type);
}

}  // namespace relish::jit

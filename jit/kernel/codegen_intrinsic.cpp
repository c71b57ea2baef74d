// Code generation of math intrinsics: machine operations where there are some, else functions of the
// runtime's table, in the dtype of the operands (float32 for the halves, then rounded).
#include <llvm/IR/Intrinsics.h>

#include "jit/kernel/codegen_scalar.h"

namespace relish::jit {

llvm::Value* ScalarEmitter::intrinsic(const IntrinsicCall& node, DType dtype) {
  llvm::Value* x = scalar(node.args[0]);
  const DType operand = node.args[0].dtype();
  if (info_of(node.intrinsic).operands == IntrinsicOperands::Integers)
    return bit_intrinsic(node.intrinsic, x, operand);
  if (info_of(node.intrinsic).result == IntrinsicResult::Bool) {
    if (!is_float(operand)) return builder_.getInt1(node.intrinsic == Intrinsic::IsFinite);
    if (node.intrinsic == Intrinsic::IsNan) return builder_.CreateFCmpUNO(x, x);
    llvm::Value* magnitude = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    llvm::Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
    return node.intrinsic == Intrinsic::IsInf ? builder_.CreateFCmpOEQ(magnitude, infinity)
                                              : builder_.CreateFCmpONE(magnitude, infinity);
  }
  if (!is_float(dtype)) {
    if (node.intrinsic != Intrinsic::Abs || !is_signed_int(dtype)) return x;
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, builder_.getFalse());
  }
  return rounded(math_intrinsic(node, x), dtype);
}

// Of floats, in float32 for the halves.
llvm::Value* ScalarEmitter::math_intrinsic(const IntrinsicCall& node, llvm::Value* x) {
  llvm::Type* type = x->getType();
  const auto machine = [&](llvm::Intrinsic::ID id) { return builder_.CreateUnaryIntrinsic(id, x); };
  const auto library = [&](const char* name) -> llvm::Value* {
    return builder_.CreateCall(runtime_.math(name, type, 1), {x});
  };
  const auto library_of_two = [&](const char* name) -> llvm::Value* {
    return builder_.CreateCall(runtime_.math(name, type, 2), {x, scalar(node.args[1])});
  };
  llvm::Value* one = llvm::ConstantFP::get(type, 1.0);
  switch (node.intrinsic) {
    case Intrinsic::Exp:
      return library("exp");
    case Intrinsic::Exp2:
      return library("exp2");
    case Intrinsic::Expm1:
      return library("expm1");
    case Intrinsic::Log:
      return library("log");
    case Intrinsic::Log2:
      return library("log2");
    case Intrinsic::Log1p:
      return library("log1p");
    case Intrinsic::Tanh:
      return library("tanh");
    case Intrinsic::Erf:
      return library("erf");
    case Intrinsic::Sin:
      return library("sin");
    case Intrinsic::Cos:
      return library("cos");
    case Intrinsic::Tan:
      return library("tan");
    case Intrinsic::Acos:
      return library("acos");
    case Intrinsic::Acosh:
      return library("acosh");
    case Intrinsic::Asin:
      return library("asin");
    case Intrinsic::Asinh:
      return library("asinh");
    case Intrinsic::Atan:
      return library("atan");
    case Intrinsic::Atanh:
      return library("atanh");
    case Intrinsic::Cosh:
      return library("cosh");
    case Intrinsic::Sinh:
      return library("sinh");
    case Intrinsic::Exp10:
      return library("exp10");
    case Intrinsic::Log10:
      return library("log10");
    case Intrinsic::Pow:
      return library_of_two("pow");
    case Intrinsic::Atan2:
      return library_of_two("atan2");
    case Intrinsic::Hypot:
      return library_of_two("hypot");
    case Intrinsic::Nextafter:
      return library_of_two("nextafter");
    case Intrinsic::Copysign:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, scalar(node.args[1]));
    case Intrinsic::Fma: {
      llvm::Value* y = scalar(node.args[1]);
      return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, y, scalar(node.args[2])});
    }
    case Intrinsic::Ldexp: {
      // A half's product with a power of two must be rounded once: float32 holds it, but for its ends.
      llvm::Type* i32 = builder_.getInt32Ty();
      llvm::Function* scale = runtime_.get(type->isFloatTy() ? "ldexpf" : "ldexp", type, {type, i32});
      scale->setDoesNotAccessMemory();
      scale->setWillReturn();
      return builder_.CreateCall(scale, {x, scalar(node.args[1])});
    }
    case Intrinsic::Sqrt:
      return machine(llvm::Intrinsic::sqrt);
    case Intrinsic::Rsqrt:
      return builder_.CreateFDiv(one, machine(llvm::Intrinsic::sqrt));
    case Intrinsic::Sigmoid: {
      // exp of a negative number only, so that nothing overflows where the result is small but not zero.
      llvm::Value* negative = builder_.CreateFNeg(machine(llvm::Intrinsic::fabs));
      llvm::Value* e = builder_.CreateCall(runtime_.math("exp", type, 1), {negative});
      llvm::Value* numerator =
          builder_.CreateSelect(builder_.CreateFCmpOLT(x, llvm::ConstantFP::get(type, 0.0)), e, one);
      return builder_.CreateFDiv(numerator, builder_.CreateFAdd(one, e));
    }
    case Intrinsic::Floor:
      return machine(llvm::Intrinsic::floor);
    case Intrinsic::Ceil:
      return machine(llvm::Intrinsic::ceil);
    case Intrinsic::Round:
      return machine(llvm::Intrinsic::roundeven);
    case Intrinsic::Trunc:
      return machine(llvm::Intrinsic::trunc);
    case Intrinsic::Abs:
      return machine(llvm::Intrinsic::fabs);
    default:
      break;
  }
  RELISH_CHECK(false, "intrinsic without code generation");
}

// Leading zeros, as an int32, and set bits.
llvm::Value* ScalarEmitter::bit_intrinsic(Intrinsic which, llvm::Value* x, DType dtype) {
  if (which == Intrinsic::Popcount) return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
  RELISH_CHECK(which == Intrinsic::Clz && is_int(dtype), "intrinsic of integers");
  llvm::Value* zeros = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, builder_.getFalse());
  return builder_.CreateZExtOrTrunc(zeros, builder_.getInt32Ty());
}

}  // namespace relish::jit

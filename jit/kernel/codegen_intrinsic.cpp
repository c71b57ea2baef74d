// Code generation of math intrinsics: machine operations where there are some, else functions in generated
// code (jit/math/) or of the runtime's table, in the dtype of the operands (float32 for the halves, then
// rounded).
#include <llvm/IR/Intrinsics.h>

#include "jit/kernel/codegen_vector.h"
#include "jit/math/elementary.h"

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

namespace {

// The operation of the machine that computes it of one operand.
llvm::Intrinsic::ID machine_operation(Intrinsic which) {
  switch (which) {
    case Intrinsic::Sqrt:
      return llvm::Intrinsic::sqrt;
    case Intrinsic::Floor:
      return llvm::Intrinsic::floor;
    case Intrinsic::Ceil:
      return llvm::Intrinsic::ceil;
    case Intrinsic::Round:
      return llvm::Intrinsic::roundeven;
    case Intrinsic::Trunc:
      return llvm::Intrinsic::trunc;
    case Intrinsic::Abs:
      return llvm::Intrinsic::fabs;
    default:
      return llvm::Intrinsic::not_intrinsic;
  }
}

}  // namespace

// Of floats, in float32 for the halves.
llvm::Value* ScalarEmitter::math_intrinsic(const IntrinsicCall& node, llvm::Value* x) {
  llvm::Type* type = x->getType();
  const IntrinsicInfo& info = info_of(node.intrinsic);
  llvm::Function* function = elementary_function(module_, node.intrinsic, type, target_.fma);
  if (!function && is_library_function(node.intrinsic))
    function = runtime_.math(std::string(info.name), type, static_cast<unsigned>(info.arity));
  if (function) {
    std::vector<llvm::Value*> operands{x};
    if (info.arity == 2) operands.push_back(scalar(node.args[1]));
    return builder_.CreateCall(function, operands);
  }
  if (const auto operation = machine_operation(node.intrinsic))
    return builder_.CreateUnaryIntrinsic(operation, x);
  switch (node.intrinsic) {
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
    case Intrinsic::Rsqrt:
      return builder_.CreateFDiv(llvm::ConstantFP::get(type, 1.0),
                                 builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    default:
      break;
  }
  RELISH_CHECK(false, "intrinsic without code generation");
}

// Of those that loops/lanes.h names.
llvm::Value* VectorEmitter::vector_intrinsic(const IntrinsicCall& node, const Lanes& lanes) {
  llvm::Value* x = vector(node.args[0], lanes);
  if (auto* function = elementary_function(module_, node.intrinsic, x->getType(), target_.fma)) {
    std::vector<llvm::Value*> operands{x};
    if (node.args.size() == 2) operands.push_back(vector(node.args[1], lanes));
    return builder_.CreateCall(function, operands);
  }
  if (node.intrinsic != Intrinsic::Rsqrt)
    return builder_.CreateUnaryIntrinsic(machine_operation(node.intrinsic), x);
  return builder_.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1.0),
                             builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
}

// Leading zeros, as an int32, and set bits.
llvm::Value* ScalarEmitter::bit_intrinsic(Intrinsic which, llvm::Value* x, DType dtype) {
  if (which == Intrinsic::Popcount) return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
  RELISH_CHECK(which == Intrinsic::Clz && is_int(dtype), "intrinsic of integers");
  llvm::Value* zeros = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, builder_.getFalse());
  return builder_.CreateZExtOrTrunc(zeros, builder_.getInt32Ty());
}

}  // namespace relish::jit

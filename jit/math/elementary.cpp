// Which function computes which intrinsic, and its place in a module.
#include "jit/math/elementary.h"

#include <string>

#include "jit/math/error_function.h"
#include "jit/math/exponential.h"
#include "jit/math/logarithm.h"
#include "jit/math/power.h"
#include "jit/math/trigonometric.h"

namespace relish::jit {
namespace {

using OfOne = Number (*)(Number);
using OfTwo = Number (*)(Number, Number);

// What computes an intrinsic; at most one of the two.
struct Formula {
  OfOne of_one = nullptr;
  OfTwo of_two = nullptr;
};

Formula formula_of_both(Intrinsic which) {
  switch (which) {
    case Intrinsic::Exp:
      return {exponential};
    case Intrinsic::Exp2:
      return {exponential_of_two};
    case Intrinsic::Exp10:
      return {exponential_of_ten};
    case Intrinsic::Expm1:
      return {exponential_less_one};
    case Intrinsic::Sigmoid:
      return {sigmoid};
    case Intrinsic::Sinh:
      return {hyperbolic_sine};
    case Intrinsic::Cosh:
      return {hyperbolic_cosine};
    case Intrinsic::Tanh:
      return {hyperbolic_tangent};
    case Intrinsic::Log:
      return {logarithm};
    case Intrinsic::Log2:
      return {logarithm_of_two};
    case Intrinsic::Log10:
      return {logarithm_of_ten};
    case Intrinsic::Log1p:
      return {logarithm_of_one_more};
    case Intrinsic::Erf:
      return {error_function};
    case Intrinsic::Hypot:
      return {nullptr, hypotenuse};
    default:
      return {};
  }
}

Formula formula_of_float32(Intrinsic which) {
  switch (which) {
    case Intrinsic::Asinh:
      return {area_hyperbolic_sine};
    case Intrinsic::Acosh:
      return {area_hyperbolic_cosine};
    case Intrinsic::Atanh:
      return {area_hyperbolic_tangent};
    case Intrinsic::Sin:
      return {sine};
    case Intrinsic::Cos:
      return {cosine};
    case Intrinsic::Tan:
      return {tangent};
    case Intrinsic::Asin:
      return {arc_sine};
    case Intrinsic::Acos:
      return {arc_cosine};
    case Intrinsic::Atan:
      return {arc_tangent};
    case Intrinsic::Atan2:
      return {nullptr, arc_tangent_of_two};
    case Intrinsic::Pow:
      return {nullptr, power};
    default:
      return formula_of_both(which);
  }
}

// Halves are computed in float32.
Formula formula_of(Intrinsic which, bool is_float64) {
  return is_float64 ? formula_of_both(which) : formula_of_float32(which);
}

bool exists(const Formula& formula) { return formula.of_one || formula.of_two; }

}  // namespace

bool is_library_function(Intrinsic which) {
  // Those of float32 are here; not all of float64.
  return exists(formula_of_float32(which)) || which == Intrinsic::Nextafter;
}

bool calls_library(Intrinsic which, DType operand) {
  if (!is_float(operand) || exists(formula_of(which, operand == DType::Float64))) return false;
  return is_library_function(which) || which == Intrinsic::Ldexp;
}

llvm::Function* elementary_function(llvm::Module& module, Intrinsic which, llvm::Type* type, bool fma) {
  const bool is_float64 = type->getScalarType()->isDoubleTy();
  const Formula formula = formula_of(which, is_float64);
  if (!exists(formula)) return nullptr;
  std::string name = "math." + std::string(info_of(which).name) + (is_float64 ? ".float64" : ".float32");
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    name += "x" + std::to_string(vector->getNumElements());
  if (llvm::Function* known = module.getFunction(name)) return known;
  const std::vector<llvm::Type*> operands(formula.of_one ? 1 : 2, type);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, operands, false),
                                          llvm::Function::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  function->setDoesNotThrow();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  const LaneBuilder lanes{builder, fma};
  const Number x{&lanes, function->getArg(0)};
  const Number result =
      formula.of_one ? formula.of_one(x) : formula.of_two(x, Number{&lanes, function->getArg(1)});
  builder.CreateRet(result.value);
  return function;
}

}  // namespace relish::jit

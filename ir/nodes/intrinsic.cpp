// The table of math intrinsics.
#include "ir/nodes/intrinsic.h"

#include <array>

#include "support/failure.h"

namespace relish {
namespace {

using enum IntrinsicOperands;
using enum IntrinsicResult;
using IntrinsicLanes::Float32;
using IntrinsicLanes::Instruction;

// In the order of the enumeration. isnan and its kin are for floats; rounding and abs take integers as well.
constexpr std::array kTable = {
    IntrinsicInfo{Intrinsic::Exp, "exp", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Log, "log", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Sqrt, "sqrt", 1, Floats, Operand, "", Instruction},
    IntrinsicInfo{Intrinsic::Rsqrt, "rsqrt", 1, Floats, Operand, "", Instruction},
    IntrinsicInfo{Intrinsic::Tanh, "tanh", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Sigmoid, "sigmoid", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Erf, "erf", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Sin, "sin", 1, Floats, Operand, "", Float32},
    IntrinsicInfo{Intrinsic::Cos, "cos", 1, Floats, Operand, "", Float32},
    IntrinsicInfo{Intrinsic::Tan, "tan", 1, Floats, Operand, "", Float32},
    IntrinsicInfo{Intrinsic::Floor, "floor", 1, Numbers, Operand, "", Instruction},
    IntrinsicInfo{Intrinsic::Ceil, "ceil", 1, Numbers, Operand, "", Instruction},
    IntrinsicInfo{Intrinsic::Round, "round", 1, Numbers, Operand, "nearbyint", Instruction},
    IntrinsicInfo{Intrinsic::Trunc, "trunc", 1, Numbers, Operand, "", Instruction},
    IntrinsicInfo{Intrinsic::Abs, "abs", 1, Numbers, Operand, "fabs", Instruction},
    IntrinsicInfo{Intrinsic::Pow, "pow", 2, Floats, Operand, "power", Float32},
    IntrinsicInfo{Intrinsic::IsNan, "isnan", 1, Floats, Bool, ""},
    IntrinsicInfo{Intrinsic::IsInf, "isinf", 1, Floats, Bool, ""},
    IntrinsicInfo{Intrinsic::IsFinite, "isfinite", 1, Floats, Bool, ""},
    IntrinsicInfo{Intrinsic::Exp2, "exp2", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Log2, "log2", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Log1p, "log1p", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Expm1, "expm1", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Acos, "acos", 1, Floats, Operand, "", Float32},
    IntrinsicInfo{Intrinsic::Acosh, "acosh", 1, Floats, Operand, "", Float32},
    IntrinsicInfo{Intrinsic::Asin, "asin", 1, Floats, Operand, "", Float32},
    IntrinsicInfo{Intrinsic::Asinh, "asinh", 1, Floats, Operand, "", Float32},
    IntrinsicInfo{Intrinsic::Atan, "atan", 1, Floats, Operand, "", Float32},
    IntrinsicInfo{Intrinsic::Atanh, "atanh", 1, Floats, Operand, "", Float32},
    IntrinsicInfo{Intrinsic::Cosh, "cosh", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Sinh, "sinh", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Exp10, "exp10", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Log10, "log10", 1, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Atan2, "atan2", 2, Floats, Operand, "", Float32},
    IntrinsicInfo{Intrinsic::Copysign, "copysign", 2, Floats, Operand, ""},
    IntrinsicInfo{Intrinsic::Hypot, "hypot", 2, Floats, Operand, "", IntrinsicLanes::Floats},
    IntrinsicInfo{Intrinsic::Nextafter, "nextafter", 2, WideFloats, Operand, ""},
    IntrinsicInfo{Intrinsic::Fma, "fma", 3, Floats, Operand, ""},
    IntrinsicInfo{Intrinsic::Ldexp, "ldexp", 2, FloatAndInt32, Operand, ""},
    IntrinsicInfo{Intrinsic::Clz, "clz", 1, Integers, Int32, ""},
    IntrinsicInfo{Intrinsic::Popcount, "popcount", 1, Integers, Operand, ""},
};

}  // namespace

std::span<const IntrinsicInfo> intrinsics() { return kTable; }

const IntrinsicInfo& info_of(Intrinsic which) {
  const auto index = static_cast<std::size_t>(which);
  RELISH_CHECK(index < kTable.size() && kTable[index].which == which);
  return kTable[index];
}

std::optional<Intrinsic> intrinsic_from_name(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const IntrinsicInfo& info : kTable) {
    if (info.name == name || info.alias == name) return info.which;
  }
  return std::nullopt;
}

}  // namespace relish

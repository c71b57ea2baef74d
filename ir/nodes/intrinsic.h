// The math intrinsics of prim_funcs (T.exp, T.sqrt, ...): one table from which reader, printer, interpreter
// and code generation take names and arities.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace relish {

enum class Intrinsic : std::uint8_t {
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Tanh,
  Sigmoid,
  Erf,
  Sin,
  Cos,
  Tan,
  Floor,
  Ceil,
  Round,
  Trunc,
  Abs,
  Pow,
  IsNan,
  IsInf,
  IsFinite,
  Exp2,
  Log2,
  Log1p,
  Expm1,
  Acos,
  Acosh,
  Asin,
  Asinh,
  Atan,
  Atanh,
  Cosh,
  Sinh,
  Exp10,
  Log10,
  Atan2,
  Copysign,
  Hypot,
  Nextafter,
  Fma,    // a * b + c, rounded once
  Ldexp,  // a * 2^b, b an int32
  Clz,
  Popcount,
};

// What the operands may be.
enum class IntrinsicOperands : std::uint8_t {
  Floats,
  WideFloats,  // float32 and float64
  Numbers,     // floats or integers
  Integers,
  FloatAndInt32,  // a float, then an int32
};
// Bool; int32; or the dtype of the (first) operand.
enum class IntrinsicResult : std::uint8_t { Operand, Bool, Int32 };

// What computes it of several numbers side by side: nothing, an instruction, or plain arithmetic (jit/math/),
// which there is of float32 alone or of float64, too.
enum class IntrinsicLanes : std::uint8_t { None, Instruction, Float32, Floats };

struct IntrinsicInfo {
  Intrinsic which;
  std::string_view name;  // after "T."
  int arity;
  IntrinsicOperands operands;  // others are refused; floor, ceil, round, trunc and abs take any dtype
  IntrinsicResult result;
  std::string_view alias;  // "fabs" for abs, "nearbyint" for round; may be empty
  IntrinsicLanes lanes = IntrinsicLanes::None;
};

std::span<const IntrinsicInfo> intrinsics();
const IntrinsicInfo& info_of(Intrinsic which);
std::optional<Intrinsic> intrinsic_from_name(std::string_view name);  // also aliases

}  // namespace relish

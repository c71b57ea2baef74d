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
};

struct IntrinsicInfo {
  Intrinsic which;
  std::string_view name;  // after "T."
  int arity;
  bool float_only;  // integer operands are refused; floor, ceil, round, trunc and abs take any dtype
  bool result_bool;
  std::string_view alias;  // "fabs" for abs, "nearbyint" for round; may be empty
};

std::span<const IntrinsicInfo> intrinsics();
const IntrinsicInfo& info_of(Intrinsic which);
std::optional<Intrinsic> intrinsic_from_name(std::string_view name);  // also aliases

}  // namespace relish

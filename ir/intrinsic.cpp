// The table of math intrinsics.
#include "ir/intrinsic.h"

#include <array>

#include "support/failure.h"

namespace relish {
namespace {

// In the order of the enumeration. isnan and its kin are for floats; rounding and abs take integers as well.
constexpr std::array kTable = {
    IntrinsicInfo{Intrinsic::Exp, "exp", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Log, "log", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Sqrt, "sqrt", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Rsqrt, "rsqrt", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Tanh, "tanh", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Sigmoid, "sigmoid", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Erf, "erf", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Sin, "sin", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Cos, "cos", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Tan, "tan", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Floor, "floor", 1, false, false, ""},
    IntrinsicInfo{Intrinsic::Ceil, "ceil", 1, false, false, ""},
    IntrinsicInfo{Intrinsic::Round, "round", 1, false, false, "nearbyint"},
    IntrinsicInfo{Intrinsic::Trunc, "trunc", 1, false, false, ""},
    IntrinsicInfo{Intrinsic::Abs, "abs", 1, false, false, "fabs"},
    IntrinsicInfo{Intrinsic::Pow, "pow", 2, true, false, "power"},
    IntrinsicInfo{Intrinsic::IsNan, "isnan", 1, true, true, ""},
    IntrinsicInfo{Intrinsic::IsInf, "isinf", 1, true, true, ""},
    IntrinsicInfo{Intrinsic::IsFinite, "isfinite", 1, true, true, ""},
    IntrinsicInfo{Intrinsic::Exp2, "exp2", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Log2, "log2", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Log1p, "log1p", 1, true, false, ""},
    IntrinsicInfo{Intrinsic::Expm1, "expm1", 1, true, false, ""},
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

// The range of float attributes.
#include "ir/operators/attribute_range.h"

#include <fmt/format.h>

#include <cmath>

namespace relish {
namespace {

std::optional<DType> computed_in(const CallView& call) {
  for (const Expr& arg : call.args) {
    const TensorType* tensor = arg.type().tensor();
    if (!tensor || !tensor->dtype || !is_float(*tensor->dtype)) continue;
    return *tensor->dtype == DType::Float64 ? DType::Float64 : DType::Float32;
  }
  return std::nullopt;
}

}  // namespace

void require_finite_attributes(const CallView& call) {
  const std::optional<DType> dtype = computed_in(call);
  if (dtype != DType::Float32) return;
  for (const Param& param : call.op.params) {
    if (param.kind != ParamKind::Attribute || !param.type.starts_with("float")) continue;
    const auto* number = call.attribute(param.name).as<double>();
    if (!number || !std::isfinite(*number) || std::isfinite(static_cast<float>(*number))) continue;
    call.reject(param.name, call.span,
                fmt::format("{} is {}, which {} does not hold", param.name, *number, name_of(*dtype)));
  }
}

}  // namespace relish

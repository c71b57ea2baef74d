// Attributes and positions of sliding windows.
#include "stdlib/families/windows/windows.h"

#include <algorithm>

#include "ir/printer/printer.h"

namespace relish::windows {

std::string_view spatial_letters(int n) {
  constexpr std::string_view letters = "DHW";
  return letters.substr(letters.size() - static_cast<std::size_t>(n));
}

namespace {

void require_range(const CallView& call, std::string_view name, const Sizes& values, std::int64_t least) {
  for (std::int64_t value : values) {
    if (value < least)
      call.reject(name, call.span, fmt::format("{} has {}, expected at least {}", name, value, least));
    if (value > most_step)
      call.reject(name, call.span, fmt::format("{} has {}, expected at most {}", name, value, most_step));
  }
}

}  // namespace

Sizes sizes(const CallView& call, std::string_view name, int n, std::int64_t least) {
  Sizes values = int_list(call.attribute(name));
  if (values.size() == 1) values.assign(static_cast<std::size_t>(n), values.front());
  if (values.size() != static_cast<std::size_t>(n)) {
    call.reject(name, call.span,
                fmt::format("{} has {} numbers, expected 1{}", name, values.size(),
                            n == 1 ? "" : fmt::format(" or {}", n)));
  }
  require_range(call, name, values, least);
  return values;
}

Scalar Axis::position(const Scalar& p, const Scalar& k) const {
  Scalar result = stride == 1 ? p : p * Scalar(stride);
  result = result + (dilation == 1 ? k : k * Scalar(dilation));
  return before == 0 ? result : result - Scalar(before);
}

Scalar Axis::span(const Scalar& kernel) const {
  return canonical((kernel - Scalar(1)) * Scalar(dilation) + Scalar(1));
}

Scalar Axis::count(const Scalar& in, const Scalar& kernel) const {
  const Scalar room = canonical(in + Scalar(before + after) - span(kernel));
  return canonical((stride == 1 ? room : floor_div(room, Scalar(stride))) + Scalar(1));
}

std::vector<Axis> axes(const CallView& call, int n) {
  const auto count = static_cast<std::size_t>(n);
  const Sizes strides = sizes(call, "strides", n, 1), dilation = sizes(call, "dilation", n, 1);
  Sizes padding = int_list(call.attribute("padding"));
  if (padding.size() == 1) padding.assign(count, padding.front());
  if (padding.size() == count) padding.insert(padding.end(), padding.begin(), padding.begin() + n);
  if (padding.size() != 2 * count) {
    call.reject("padding", call.span,
                fmt::format("padding has {} numbers, expected 1, {}{}", padding.size(),
                            n == 1 ? "" : fmt::format("{} or ", n), 2 * n));
  }
  std::vector<Axis> result;
  require_range(call, "padding", padding, 0);
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back({strides[i], dilation[i], padding[i], padding[count + i]});
  }
  return result;
}

Attribute padding_attribute(const std::vector<Axis>& axes) {
  Sizes values;
  for (const Axis& axis : axes) values.push_back(axis.before);
  for (const Axis& axis : axes) values.push_back(axis.after);
  return attribute_of(values);
}
Attribute strides_attribute(const std::vector<Axis>& axes) {
  Sizes values;
  for (const Axis& axis : axes) values.push_back(axis.stride);
  return attribute_of(values);
}
Attribute dilation_attribute(const std::vector<Axis>& axes) {
  Sizes values;
  for (const Axis& axis : axes) values.push_back(axis.dilation);
  return attribute_of(values);
}

Scalar all_of(const std::vector<Scalar>& conditions) {
  Scalar result;
  for (const Scalar& condition : conditions)
    result = result.defined() ? logical(LogicalOp::And, result, condition) : condition;
  return result;
}

Scalar guarded(const Scalar& condition, const Scalar& value) {
  return condition.defined() ? if_then_else(condition, value, zero(value.dtype())) : value;
}

}  // namespace relish::windows

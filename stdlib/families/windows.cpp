// Attributes and positions of sliding windows.
#include "stdlib/families/windows.h"

#include <algorithm>

#include "ir/printer.h"

namespace relish::windows {

std::string_view spatial_letters(int n) {
  constexpr std::string_view letters = "DHW";
  return letters.substr(letters.size() - static_cast<std::size_t>(n));
}

Sizes sizes(const CallView& call, std::string_view name, int n, std::int64_t least) {
  Sizes values = int_list(call.attribute(name));
  if (values.size() == 1) values.assign(static_cast<std::size_t>(n), values.front());
  if (values.size() != static_cast<std::size_t>(n)) {
    call.reject(name, call.span,
                fmt::format("{} has {} numbers, expected 1{}", name, values.size(),
                            n == 1 ? "" : fmt::format(" or {}", n)));
  }
  for (std::int64_t value : values) {
    if (value < least)
      call.reject(name, call.span, fmt::format("{} has {}, expected at least {}", name, value, least));
  }
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
  for (std::size_t i = 0; i < count; ++i) {
    if (std::min(padding[i], padding[count + i]) < 0) {
      call.reject(
          "padding", call.span,
          fmt::format("padding has {}, expected at least 0", std::min(padding[i], padding[count + i])));
    }
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

Layout::Layout(const CallView& call, std::string_view name, std::string order, const Layout* fallback) {
  const Attribute& attribute = call.attribute(name);
  text_ = attribute.is_none() ? std::string() : call.string_attribute(name);
  if (text_.empty() && fallback) text_ = fallback->text_;
  if (!std::is_permutation(text_.begin(), text_.end(), order.begin(), order.end())) {
    const bool blocked = std::any_of(text_.begin(), text_.end(), [](char c) { return c >= '0' && c <= '9'; });
    call.reject("layout", call.span,
                fmt::format("{} is \"{}\", expected the letters {} in some order{}", name, text_, order,
                            blocked ? "; blocked layouts are not supported" : ""));
  }
  for (char letter : order) axis_.push_back(text_.find(letter));
}

std::string Layout::exchanged(char a, char b) const {
  std::string result = text_;
  for (char& letter : result) letter = letter == a ? b : letter == b ? a : letter;
  return result;
}

std::optional<Dims> Layout::dims(const CallView& call, std::size_t argument) const {
  const BroadcastShape shape = shape_of(call.tensor(argument));
  if (shape.rank >= 0 && shape.rank != static_cast<int>(axis_.size())) {
    call.reject("rank", call.span_of(argument),
                fmt::format("{} has rank {}, expected {} for the layout {}", call.op.params[argument].name,
                            shape.rank, axis_.size(), text_));
  }
  if (!shape.dims) return std::nullopt;
  return ordered(*shape.dims);
}

std::int64_t offset(const Shape& strides, const Shape& index) {
  std::int64_t result = 0;
  for (std::size_t i = 0; i < index.size(); ++i) result += strides[i] * index[i];
  return result;
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

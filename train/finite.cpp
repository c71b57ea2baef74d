// A float is not finite when its exponent bits are all ones. The test is done on whole blocks of bits, which
// costs little beside a training step.
#include "train/finite.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace relish {
namespace {

constexpr std::int64_t block_elements = 64;

template <class Bits>
bool block_has(const Bits* bits, Bits exponent) {
  Bits found = 0;
  for (std::int64_t i = 0; i < block_elements; ++i) {
    found = static_cast<Bits>(found | static_cast<Bits>((bits[i] & exponent) == exponent));
  }
  return found != 0;
}

template <class Bits>
std::optional<std::int64_t> search(const Tensor& tensor, Bits exponent) {
  const auto* bytes = static_cast<const std::byte*>(tensor.data());
  Bits block[block_elements];
  for (std::int64_t first = 0; first < tensor.size(); first += block_elements) {
    const std::int64_t count = std::min(block_elements, tensor.size() - first);
    if (count < block_elements) std::fill(block, block + block_elements, Bits{0});
    std::memcpy(block, bytes + static_cast<std::size_t>(first) * sizeof(Bits),
                static_cast<std::size_t>(count) * sizeof(Bits));
    if (!block_has(block, exponent)) continue;
    for (std::int64_t i = 0; i < count; ++i) {
      if ((block[i] & exponent) == exponent) return first + i;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> first_not_finite(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::Float16:
      return search<std::uint16_t>(tensor, 0x7C00);
    case DType::BFloat16:
      return search<std::uint16_t>(tensor, 0x7F80);
    case DType::Float32:
      return search<std::uint32_t>(tensor, 0x7F800000u);
    case DType::Float64:
      return search<std::uint64_t>(tensor, 0x7FF0000000000000u);
    default:
      return std::nullopt;
  }
}

std::optional<std::string> not_finite_among(std::string_view what, const std::vector<std::string>& names,
                                            const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (first_not_finite(tensors[i])) return fmt::format("{} '{}'", what, names[i]);
  return std::nullopt;
}

std::optional<std::string> path_of_not_finite(const Value& value) {
  if (value.is_tensor())
    return first_not_finite(value.tensor()) ? std::optional<std::string>("") : std::nullopt;
  if (!value.is_tuple()) return std::nullopt;
  for (std::size_t i = 0; i < value.fields().size(); ++i) {
    if (std::optional<std::string> inner = path_of_not_finite(value.fields()[i])) {
      return inner->empty() ? std::to_string(i) : std::to_string(i) + "." + *inner;
    }
  }
  return std::nullopt;
}

}  // namespace relish

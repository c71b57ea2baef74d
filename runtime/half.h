// float16 and bfloat16 as storage types: arithmetic is done in float32 and rounded once, to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace relish {

std::uint16_t float_to_half_bits(float value);
float half_bits_to_float(std::uint16_t bits);
std::uint16_t float_to_bfloat16_bits(float value);  // NaN stays NaN
inline float bfloat16_bits_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
// Rounds a double to half/bfloat16 in one rounding (not through float).
std::uint16_t double_to_half_bits(double value);
std::uint16_t double_to_bfloat16_bits(double value);

struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float v) : bits(float_to_half_bits(v)) {}
  explicit Half(double v) : bits(double_to_half_bits(v)) {}
  explicit operator float() const { return half_bits_to_float(bits); }
};

struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float v) : bits(float_to_bfloat16_bits(v)) {}
  explicit BFloat16(double v) : bits(double_to_bfloat16_bits(v)) {}
  explicit operator float() const { return bfloat16_bits_to_float(bits); }
};

}  // namespace relish

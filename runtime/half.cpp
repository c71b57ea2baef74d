// Conversion to and from the 16-bit floats, by integer arithmetic on the bits of a double.
#include "runtime/half.h"

namespace relish {
namespace {

constexpr int double_mantissa_bits = 52;
constexpr int double_bias = 1023;

// The nearest value, ties to even, in a 16-bit format with `mantissa_bits` stored bits.
template <int mantissa_bits>
std::uint16_t encode(double value) {
  constexpr int exponent_bits = 15 - mantissa_bits;
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  constexpr int least_exponent = 1 - bias;
  constexpr std::uint16_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;

  auto bits = std::bit_cast<std::uint64_t>(value);
  auto sign = static_cast<std::uint16_t>(bits >> 63 << 15);
  int exponent_field = static_cast<int>(bits >> double_mantissa_bits & 0x7FF);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << double_mantissa_bits) - 1);
  if (exponent_field == 0x7FF) {
    std::uint16_t quiet_nan = infinity | 1u << (mantissa_bits - 1);
    return sign | (mantissa != 0 ? quiet_nan : infinity);
  }
  // Zeros, and doubles far below half of the least subnormal.
  int exponent = exponent_field - double_bias;
  if (exponent < least_exponent - mantissa_bits - 1) return sign;
  if (exponent > bias) return sign | infinity;

  mantissa |= std::uint64_t{1} << double_mantissa_bits;
  bool subnormal = exponent < least_exponent;
  int shift = double_mantissa_bits - mantissa_bits + (subnormal ? least_exponent - exponent : 0);
  std::uint64_t kept = mantissa >> shift;
  std::uint64_t dropped = mantissa & ((std::uint64_t{1} << shift) - 1);
  std::uint64_t half = std::uint64_t{1} << (shift - 1);
  if (dropped > half || (dropped == half && (kept & 1))) ++kept;
  // A carry out of the mantissa moves on into the exponent, up to infinity, by itself.
  std::uint64_t exponent_part =
      subnormal ? 0 : static_cast<std::uint64_t>(exponent + bias - 1) << mantissa_bits;
  return sign | static_cast<std::uint16_t>(exponent_part + kept);
}

}  // namespace

std::uint16_t double_to_half_bits(double value) { return encode<10>(value); }

std::uint16_t double_to_bfloat16_bits(double value) { return encode<7>(value); }

// Every float is a double, so these round once too.
std::uint16_t float_to_half_bits(float value) { return encode<10>(static_cast<double>(value)); }

std::uint16_t float_to_bfloat16_bits(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float half_bits_to_float(std::uint16_t bits) {
  std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  std::uint32_t exponent = bits >> 10 & 0x1F;
  std::uint32_t mantissa = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  // Zero and subnormals: a multiple of 2^-24, exact in float32.
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

}  // namespace relish

// 16-bit floats: all values there and back, ties to even, one rounding.
#include "runtime/half.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace relish {
namespace {

TEST_CASE("every 16-bit float survives the way through float and double") {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    auto bits = static_cast<std::uint16_t>(i);
    float half = half_bits_to_float(bits);
    float brain = bfloat16_bits_to_float(bits);
    bool half_ok = std::isnan(half) ? std::isnan(half_bits_to_float(float_to_half_bits(half)))
                                    : float_to_half_bits(half) == bits && double_to_half_bits(half) == bits;
    bool brain_ok = std::isnan(brain)
                        ? std::isnan(bfloat16_bits_to_float(float_to_bfloat16_bits(brain)))
                        : float_to_bfloat16_bits(brain) == bits && double_to_bfloat16_bits(brain) == bits;
    if (!half_ok || !brain_ok) FAIL("bits " << i);
  }
}

TEST_CASE("halves round to even, overflow to infinity and underflow to zero") {
  CHECK(float_to_half_bits(1.0f) == 0x3C00);
  CHECK(float_to_half_bits(65504.0f) == 0x7BFF);
  CHECK(float_to_half_bits(65519.99f) == 0x7BFF);
  CHECK(float_to_half_bits(65520.0f) == 0x7C00);
  CHECK(float_to_half_bits(1.0f + 0x1p-11f) == 0x3C00);
  CHECK(float_to_half_bits(1.0f + 3 * 0x1p-11f) == 0x3C02);
  CHECK(float_to_half_bits(0x1p-24f) == 0x0001);
  CHECK(float_to_half_bits(0x1p-25f) == 0x0000);
  CHECK(float_to_half_bits(0x1.000002p-25f) == 0x0001);
  CHECK(float_to_half_bits(-0.0f) == 0x8000);
  CHECK(float_to_half_bits(-INFINITY) == 0xFC00);
}

TEST_CASE("a double is rounded once") {
  // Through float this would first become a tie and then go to even, one below.
  CHECK(double_to_half_bits(1.0 + 0x1p-11 + 0x1p-40) == 0x3C01);
  CHECK(double_to_bfloat16_bits(1.0 + 0x1p-8 + 0x1p-40) == 0x3F81);
  CHECK(double_to_bfloat16_bits(1e300) == 0x7F80);
  CHECK(double_to_bfloat16_bits(-std::numeric_limits<double>::denorm_min()) == 0x8000);
}

TEST_CASE("bfloat16 by float and by double agree on all floats tried") {
  for (std::uint32_t i = 0; i < 0x7F800000; i += 65003) {
    float value = std::bit_cast<float>(i);
    if (float_to_bfloat16_bits(value) != double_to_bfloat16_bits(static_cast<double>(value)))
      FAIL("bits " << i);
  }
}

}  // namespace
}  // namespace relish

// Element arithmetic: wrap-around, conversion, IEEE maximum, and the walk over broadcast operands.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/elementwise/scalar_math.h"

using namespace relish;

TEST_CASE("integers wrap around and divide without a trap", "[fast]") {
  const auto i8 = [](int v) { return Wrapping<std::int8_t>(static_cast<std::int8_t>(v)); };
  CHECK((i8(127) + i8(1)).value == -128);
  CHECK((i8(-128) - i8(1)).value == 127);
  CHECK((i8(100) * i8(3)).value == 44);
  CHECK((-i8(-128)).value == -128);
  CHECK((i8(-128) / i8(-1)).value == -128);
  CHECK((i8(-7) / i8(2)).value == -3);
  CHECK_THROWS_AS(i8(1) / i8(0), Failure);
  const Wrapping<std::int64_t> lowest(std::numeric_limits<std::int64_t>::min());
  CHECK((lowest / Wrapping<std::int64_t>(-1)).value == lowest.value);
  CHECK((Wrapping<std::uint16_t>(65535) * Wrapping<std::uint16_t>(65535)).value == 1);
}

TEST_CASE("floats become integers by truncation and saturate", "[fast]") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(convert_element<std::int8_t>(300.0) == 127);
  CHECK(convert_element<std::int8_t>(-300.0f) == -128);
  CHECK(convert_element<std::int32_t>(-1.75) == -1);
  CHECK(convert_element<std::uint8_t>(-1.0) == 0);
  CHECK(convert_element<std::int64_t>(inf) == std::numeric_limits<std::int64_t>::max());
  CHECK(convert_element<std::int64_t>(9223372036854775808.0) == std::numeric_limits<std::int64_t>::max());
  CHECK(convert_element<std::uint64_t>(18446744073709551616.0) == std::numeric_limits<std::uint64_t>::max());
  CHECK(convert_element<std::int32_t>(std::nan("")) == 0);
  CHECK(convert_element<bool>(std::nan("")));
  CHECK_FALSE(convert_element<bool>(-0.0f));
  CHECK(convert_element<std::int8_t>(std::int32_t{300}) == 44);
  CHECK(convert_element<Half>(65520.0).bits == 0x7c00);
  CHECK(convert_element<float>(std::int64_t{16777217}) == 16777216.0f);
}

TEST_CASE("the IEEE maximum does not depend on the order of its operands", "[fast]") {
  CHECK_FALSE(std::signbit(maximum_ieee(-0.0, 0.0)));
  CHECK_FALSE(std::signbit(maximum_ieee(0.0, -0.0)));
  CHECK(std::isnan(maximum_ieee(std::nanf(""), 1.0f)));
  CHECK(std::isnan(maximum_ieee(1.0f, std::nanf(""))));
  CHECK(maximum_ieee(-2.0, -3.0) == -2.0);
}

TEST_CASE("rows of broadcast operands come in row-major order", "[fast]") {
  const Shape shape = {2, 3, 2};
  std::vector<std::int64_t> first, second;
  for_each_row<2>(shape, {broadcast_strides({2, 1, 2}, shape), broadcast_strides({3, 1}, shape)},
                  [&](const auto& offsets, const auto& strides, std::int64_t count) {
                    for (std::int64_t i = 0; i < count; ++i) {
                      first.push_back(offsets[0] + i * strides[0]);
                      second.push_back(offsets[1] + i * strides[1]);
                    }
                  });
  CHECK(first == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3});
  CHECK(second == std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
  int rows = 0;
  for_each_row<1>({}, {Shape{}},
                  [&](const auto&, const auto&, std::int64_t count) { rows += static_cast<int>(count); });
  CHECK(rows == 1);
  for_each_row<1>({3, 0}, {Shape{0, 1}}, [&](const auto&, const auto&, std::int64_t) { ++rows; });
  CHECK(rows == 1);
}

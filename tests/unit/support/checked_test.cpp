// Arithmetic and counting at the ends of int64.
#include "support/checked.h"

#include <catch2/catch.hpp>

namespace relish {
namespace {

TEST_CASE("checked arithmetic has no value where int64 has none") {
  CHECK(checked_add(INT64_MAX, 0) == INT64_MAX);
  CHECK(checked_add(INT64_MAX, 1) == std::nullopt);
  CHECK(checked_sub(INT64_MIN, 1) == std::nullopt);
  CHECK(checked_sub(-1, INT64_MIN) == INT64_MAX);
  CHECK(checked_mul(std::int64_t{1} << 32, std::int64_t{1} << 31) == std::nullopt);
  CHECK(checked_mul(std::int64_t{1} << 32, -(std::int64_t{1} << 31)) == INT64_MIN);
  CHECK(checked_negate(INT64_MIN) == std::nullopt);
  CHECK(checked_negate(INT64_MAX) == -INT64_MAX);
}

TEST_CASE("numbers between two ends are counted, however far apart they are") {
  CHECK(count_of_range(0, 10, 3) == 4);
  CHECK(count_of_range(0, 9, 3) == 3);
  CHECK(count_of_range(10, 0, 3) == 0);
  CHECK(count_of_range(10, 0, -3) == 4);
  CHECK(count_of_range(0, INT64_MAX, INT64_MAX) == 1);
  CHECK(count_of_range(0, INT64_MIN, INT64_MIN) == 1);
  CHECK(count_of_range(INT64_MIN, INT64_MAX, INT64_MAX) == 3);
  CHECK(count_of_range(-1, INT64_MAX, 1) == std::nullopt);
  CHECK(count_of_range(INT64_MIN, INT64_MAX, 1) == std::nullopt);
  CHECK(range_count(INT64_MIN, INT64_MAX, 1) == UINT64_MAX);
}

}  // namespace
}  // namespace relish

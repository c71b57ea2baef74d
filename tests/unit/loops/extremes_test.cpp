// Maxima and minima that are written with selects.
#include "loops/extremes.h"

#include <catch2/catch.hpp>

using namespace relish;

namespace {

const Scalar extremes_a = use(ScalarVar("a", DType::Float32)),
             extremes_b = use(ScalarVar("b", DType::Float32));

}  // namespace

TEST_CASE("maximum and minimum of floats are recognised", "[loops]") {
  const Scalar most = maximum_ieee(extremes_a, extremes_b), least = minimum_ieee(extremes_a, extremes_b);
  const auto largest = as_extreme(*most.as<Select>());
  REQUIRE(largest);
  CHECK(largest->largest);
  CHECK(structurally_equal(largest->a, extremes_a));
  CHECK(structurally_equal(largest->b, extremes_b));
  const auto smallest = as_extreme(*least.as<Select>());
  REQUIRE(smallest);
  CHECK_FALSE(smallest->largest);
}

TEST_CASE("selects that differ from a maximum are none", "[loops]") {
  const Scalar &a = extremes_a, &b = extremes_b;
  const Scalar whole = maximum_ieee(a, b);
  const Select& node = *whole.as<Select>();
  CHECK_FALSE(as_extreme(*select(a > b, a, b).as<Select>()));       // NaN does not propagate
  CHECK_FALSE(as_extreme(*select(b > a, a, node.b).as<Select>()));  // the other comparison
  CHECK_FALSE(as_extreme(*select(a < b, a, node.b).as<Select>()));  // of a minimum
  CHECK_FALSE(as_extreme(*select(a > b, b, node.b).as<Select>()));  // the smaller one
  const Select& inner = *node.b.as<Select>();
  CHECK_FALSE(as_extreme(*select(a > b, a, select(inner.condition, b, a)).as<Select>()));  // no ties, no NaN
}

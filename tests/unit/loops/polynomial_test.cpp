// Polynomials: arithmetic, splitting by an atom, overflow.
#include <catch2/catch.hpp>

#include <cstdint>

#include "loops/polynomial.h"

using namespace relish;

namespace {
const Polynomial n = Polynomial::of(1), i = Polynomial::of(2);
}  // namespace

TEST_CASE("polynomials: like terms join, and none is left of a difference") {
  CHECK((n * i + i * n - Polynomial(2) * n * i).is_zero());
  CHECK(((n + Polynomial(1)) * (n - Polynomial(1)) - n * n).constant() == -1);
  CHECK((n + i).constant() == std::nullopt);
  CHECK((n * n).contains(1));
  CHECK_FALSE((n * n).contains(2));
}

TEST_CASE("polynomials: split takes the coefficient of an atom") {
  const auto parts = (Polynomial(3) * i * n + i + n + Polynomial(7)).split(2);
  REQUIRE(parts);
  CHECK((parts->quotient - (Polynomial(3) * n + Polynomial(1))).is_zero());
  CHECK((parts->rest - (n + Polynomial(7))).is_zero());
  CHECK_FALSE((i * i).split(2));
}

TEST_CASE("polynomials: an atom is replaced by another polynomial") {
  CHECK(((n * n + n).replaced(1, Polynomial(3))).constant() == 12);
  CHECK(((n + i).replaced(1, i) - Polynomial(2) * i).is_zero());
}

TEST_CASE("polynomials: what overflows is no polynomial, and proves nothing") {
  const Polynomial large(INT64_MAX);
  CHECK_FALSE((large + Polynomial(1)).valid());
  CHECK_FALSE((large * n * Polynomial(2)).valid());
  CHECK_FALSE((large + Polynomial(1)).is_zero());
}

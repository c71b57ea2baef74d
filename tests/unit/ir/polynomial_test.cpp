// Terms of polynomials: their order, products and quotients of monomials, sums that do not fit.
#include "ir/scalars/polynomial.h"

#include <catch2/catch.hpp>

#include "support/checked.h"

using namespace relish;

namespace {

struct CompareNumbers {
  int operator()(int a, int b) const { return a - b; }
};
using Numbers = PolynomialOver<int, CompareNumbers>;
using Product = Numbers::Monomial;

Numbers sum_of(std::initializer_list<std::pair<Product, std::int64_t>> terms) {
  Numbers result;
  for (const auto& [monomial, coefficient] : terms) result.add(monomial, coefficient, checked_add);
  return result;
}

}  // namespace

TEST_CASE("terms stand by degree, then by their atoms, the constant last") {
  const Numbers p = sum_of({{{}, 5}, {{2}, 1}, {{1}, 4}, {{1, 3}, 2}, {{1, 2}, 3}});
  std::vector<Product> order;
  for (const auto& term : p.terms()) order.push_back(term.first);
  CHECK(order == std::vector<Product>{{1, 2}, {1, 3}, {1}, {2}, {}});
  CHECK(p.degree() == 2);
  CHECK(p.contains(3));
  CHECK_FALSE(p.contains(4));
}

TEST_CASE("like terms join, and what becomes zero goes") {
  const Numbers p = sum_of({{{1}, 2}, {{}, 7}, {{1}, -2}});
  CHECK(p.terms().size() == 1);
  CHECK(p.constant() == 7);
  CHECK(sum_of({{{}, 7}, {{}, -7}}).is_zero());
  CHECK(sum_of({}).constant() == 0);
  CHECK_FALSE(sum_of({{{1}, 1}}).constant());
}

TEST_CASE("a sum that does not fit changes nothing") {
  Numbers p = sum_of({{{1}, INT64_MAX}});
  CHECK_FALSE(p.add({1}, 1, checked_add));
  CHECK(p.terms().at({1}) == INT64_MAX);
  CHECK(p.add({1}, -1, checked_add));
}

TEST_CASE("monomials: product merges, quotient takes out") {
  CHECK(Numbers::product({1, 3}, {2, 3}) == Product{1, 2, 3, 3});
  CHECK(Numbers::quotient({1, 2, 3, 3}, {2, 3}) == Product{1, 3});
  CHECK(Numbers::quotient({1, 2}, {}) == Product{1, 2});
  CHECK_FALSE(Numbers::quotient({1, 2}, {2, 2}));
  CHECK_FALSE(Numbers::quotient({2}, {1}));
}

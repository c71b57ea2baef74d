// Arithmetic of integer polynomials.
#include "loops/polynomial.h"

#include <algorithm>

#include "support/checked.h"

namespace relish {

void Polynomial::add(const Monomial& monomial, std::int64_t coefficient) {
  valid_ = sum_.add(monomial, coefficient, checked_add) && valid_;
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  Polynomial sum = a;
  sum.valid_ = a.valid_ && b.valid_;
  for (const auto& [monomial, coefficient] : b.terms()) sum.add(monomial, coefficient);
  return sum;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  product.valid_ = a.valid_ && b.valid_;
  for (const auto& [left, x] : a.terms()) {
    for (const auto& [right, y] : b.terms()) {
      const CheckedInt coefficient = checked_mul(x, y);
      if (!coefficient) product.valid_ = false;
      product.add(Polynomial::Sum::product(left, right), coefficient.value_or(0));
    }
  }
  return product;
}

Polynomial operator-(const Polynomial& a, const Polynomial& b) { return a + b * Polynomial(-1); }

std::optional<Polynomial::Split> Polynomial::split(Atom atom) const {
  Split result;
  result.quotient.valid_ = result.rest.valid_ = valid_;
  for (const auto& [monomial, coefficient] : terms()) {
    const auto count = std::count(monomial.begin(), monomial.end(), atom);
    if (count > 1) return std::nullopt;
    if (count == 0) {
      result.rest.add(monomial, coefficient);
      continue;
    }
    result.quotient.add(*Sum::quotient(monomial, {atom}), coefficient);
  }
  return result;
}

Polynomial Polynomial::replaced(Atom atom, const Polynomial& by) const {
  Polynomial result;
  result.valid_ = valid_;
  for (const auto& [monomial, coefficient] : terms()) {
    Polynomial term(coefficient);
    for (const Atom a : monomial) term = term * (a == atom ? by : Polynomial::of(a));
    result = result + term;
  }
  return result;
}

}  // namespace relish

// Arithmetic of integer polynomials.
#include "loops/polynomial.h"

#include <algorithm>

#include "support/checked.h"

namespace relish {

void Polynomial::add(const Monomial& monomial, std::int64_t coefficient) {
  valid_ = sum_.add(monomial, coefficient, checked_add) && valid_;
}

template <class Join>
Polynomial Polynomial::joined(const Polynomial& a, const Polynomial& b, Join&& join) {
  Polynomial result;
  result.valid_ = a.valid_ && b.valid_;
  if (auto sum = Sum::joined(a.sum_, b.sum_, join))
    result.sum_ = *std::move(sum);
  else
    result.valid_ = false;
  return result;
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  return Polynomial::joined(a, b, checked_add);
}

Polynomial Polynomial::scaled(std::int64_t factor) const {
  Polynomial result;
  result.valid_ = valid_;
  if (factor == 0) return result;
  for (const auto& [monomial, coefficient] : terms()) {
    const CheckedInt product = checked_mul(coefficient, factor);
    if (!product) result.valid_ = false;
    result.add(monomial, product.value_or(0));
  }
  return result;
}

// Most products are of a number.
Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  if (a.valid_ && b.valid_) {
    if (const auto factor = b.constant()) return a.scaled(*factor);
    if (const auto factor = a.constant()) return b.scaled(*factor);
  }
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

Polynomial operator-(const Polynomial& a, const Polynomial& b) {
  return Polynomial::joined(a, b, checked_sub);
}

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

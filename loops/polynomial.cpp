// Arithmetic of integer polynomials.
#include "loops/polynomial.h"

#include <algorithm>

namespace relish {

void Polynomial::add(const Monomial& monomial, std::int64_t coefficient) {
  if (coefficient == 0) return;
  std::int64_t& entry = terms_[monomial];
  if (__builtin_add_overflow(entry, coefficient, &entry)) valid_ = false;
  if (entry == 0) terms_.erase(monomial);
}

std::optional<std::int64_t> Polynomial::constant() const {
  if (!valid_ || terms_.size() > 1) return std::nullopt;
  if (terms_.empty()) return 0;
  if (!terms_.begin()->first.empty()) return std::nullopt;
  return terms_.begin()->second;
}

bool Polynomial::contains(Atom atom) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const auto& term) {
    return std::find(term.first.begin(), term.first.end(), atom) != term.first.end();
  });
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  Polynomial sum = a;
  sum.valid_ = a.valid_ && b.valid_;
  for (const auto& [monomial, coefficient] : b.terms_) sum.add(monomial, coefficient);
  return sum;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  product.valid_ = a.valid_ && b.valid_;
  for (const auto& [left, x] : a.terms_) {
    for (const auto& [right, y] : b.terms_) {
      Polynomial::Monomial both = left;
      both.insert(both.end(), right.begin(), right.end());
      std::sort(both.begin(), both.end());
      std::int64_t coefficient = 0;
      if (__builtin_mul_overflow(x, y, &coefficient)) product.valid_ = false;
      product.add(both, coefficient);
    }
  }
  return product;
}

Polynomial operator-(const Polynomial& a, const Polynomial& b) { return a + b * Polynomial(-1); }

std::optional<Polynomial::Split> Polynomial::split(Atom atom) const {
  Split result;
  result.quotient.valid_ = result.rest.valid_ = valid_;
  for (const auto& [monomial, coefficient] : terms_) {
    const auto count = std::count(monomial.begin(), monomial.end(), atom);
    if (count > 1) return std::nullopt;
    if (count == 0) {
      result.rest.add(monomial, coefficient);
      continue;
    }
    Monomial others = monomial;
    others.erase(std::find(others.begin(), others.end(), atom));
    result.quotient.add(others, coefficient);
  }
  return result;
}

Polynomial Polynomial::replaced(Atom atom, const Polynomial& by) const {
  Polynomial result;
  result.valid_ = valid_;
  for (const auto& [monomial, coefficient] : terms_) {
    Polynomial term(coefficient);
    for (const Atom a : monomial) term = term * (a == atom ? by : Polynomial::of(a));
    result = result + term;
  }
  return result;
}

}  // namespace relish

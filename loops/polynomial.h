// Polynomials over symbolic dims, loop variables and opaque terms, by their ids: the arithmetic of the range
// proofs.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/scalars/flat_map.h"
#include "ir/scalars/polynomial.h"

namespace relish {

struct CompareIds {
  int operator()(std::uint64_t a, std::uint64_t b) const { return a < b ? -1 : a > b ? 1 : 0; }
};

class Polynomial {
 public:
  using Sum = PolynomialOver<std::uint64_t, CompareIds, FlatMap>;  // most have few terms
  using Atom = Sum::Atom;
  using Monomial = Sum::Monomial;

  Polynomial() = default;
  Polynomial(std::int64_t constant) { add({}, constant); }
  static Polynomial of(Atom atom) {
    Polynomial p;
    p.add({atom}, 1);
    return p;
  }

  // An overflow of a coefficient makes the polynomial invalid, which nothing proves.
  bool valid() const { return valid_; }
  bool is_zero() const { return valid_ && sum_.is_zero(); }
  std::optional<std::int64_t> constant() const { return valid_ ? sum_.constant() : std::nullopt; }
  const Sum::Terms& terms() const { return sum_.terms(); }
  bool contains(Atom atom) const { return sum_.contains(atom); }

  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);

  // Writes this as quotient * atom + rest; none when the atom occurs in a higher power.
  struct Split;
  std::optional<Split> split(Atom atom) const;
  Polynomial replaced(Atom atom, const Polynomial& by) const;

  void add(const Monomial& monomial, std::int64_t coefficient);

 private:
  template <class Join>
  static Polynomial joined(const Polynomial& a, const Polynomial& b, Join&& join);
  Polynomial scaled(std::int64_t factor) const;

  Sum sum_;
  bool valid_ = true;
};

struct Polynomial::Split {
  Polynomial quotient, rest;
};

}  // namespace relish

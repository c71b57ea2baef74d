// Integer polynomials over symbolic dims, loop variables and opaque terms: the arithmetic of the range
// proofs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace relish {

class Polynomial {
 public:
  using Atom = std::uint64_t;
  using Monomial = std::vector<Atom>;  // sorted; repeated for powers; empty: the constant

  Polynomial() = default;
  Polynomial(std::int64_t constant) { add({}, constant); }
  static Polynomial of(Atom atom) {
    Polynomial p;
    p.add({atom}, 1);
    return p;
  }

  // An overflow of a coefficient makes the polynomial invalid, which nothing proves.
  bool valid() const { return valid_; }
  bool is_zero() const { return valid_ && terms_.empty(); }
  std::optional<std::int64_t> constant() const;
  const std::map<Monomial, std::int64_t>& terms() const { return terms_; }
  bool contains(Atom atom) const;

  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);

  // Writes this as quotient * atom + rest; none when the atom occurs in a higher power.
  struct Split;
  std::optional<Split> split(Atom atom) const;
  Polynomial replaced(Atom atom, const Polynomial& by) const;

  void add(const Monomial& monomial, std::int64_t coefficient);

 private:
  std::map<Monomial, std::int64_t> terms_;
  bool valid_ = true;
};

struct Polynomial::Split {
  Polynomial quotient, rest;
};

}  // namespace relish

// Integer polynomials: sums of products of atoms with coefficients. What an atom is, its user says (canonical
// forms: scalars that are no polynomials; range proofs: ids of variables and of terms), and also what becomes
// of a coefficient that does not fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace relish {

// `Compare{}(a, b)` is negative, zero or positive: a total order of atoms. `Map`: what terms are kept in.
template <class AtomType, class Compare, template <class...> class Map = std::map>
class PolynomialOver {
 public:
  using Atom = AtomType;
  using Monomial = std::vector<Atom>;  // sorted; repeated for powers; empty: the constant

  // Higher degree first, then by the atoms; the constant is last. A monomial order, so that division by
  // leading terms ends.
  struct Order {
    bool operator()(const Monomial& a, const Monomial& b) const {
      if (a.size() != b.size()) return a.size() > b.size();
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (const int c = Compare{}(a[i], b[i])) return c < 0;
      }
      return false;
    }
  };
  using Terms = Map<Monomial, std::int64_t, Order>;  // no coefficient is zero

  static Monomial product(const Monomial& a, const Monomial& b) {
    Monomial merged;
    merged.reserve(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged),
               [](const Atom& x, const Atom& y) { return Compare{}(x, y) < 0; });
    return merged;
  }
  // The factor by which `a` is a multiple of `b`.
  static std::optional<Monomial> quotient(const Monomial& a, const Monomial& b) {
    Monomial rest;
    std::size_t i = 0;
    for (const Atom& atom : a) {
      if (i < b.size() && Compare{}(atom, b[i]) == 0)
        ++i;
      else
        rest.push_back(atom);
    }
    return i == b.size() ? std::optional(std::move(rest)) : std::nullopt;
  }

  const Terms& terms() const { return terms_; }
  bool is_zero() const { return terms_.empty(); }
  std::size_t degree() const { return terms_.empty() ? 0 : terms_.begin()->first.size(); }
  // The number that it is, if it is one.
  std::optional<std::int64_t> constant() const {
    if (terms_.empty()) return 0;
    if (terms_.size() > 1 || !terms_.begin()->first.empty()) return std::nullopt;
    return terms_.begin()->second;
  }
  bool contains(const Atom& atom) const {
    return std::any_of(terms_.begin(), terms_.end(), [&](const auto& term) {
      return std::any_of(term.first.begin(), term.first.end(),
                         [&](const Atom& each) { return Compare{}(each, atom) == 0; });
    });
  }

  // Adds coefficient * monomial. `sum(a, b)` is the coefficient of like terms, or nothing where that is no
  // number; then the polynomial stays as it is, and the answer is false.
  template <class Sum>
  bool add(const Monomial& monomial, std::int64_t coefficient, Sum&& sum) {
    const auto [place, fresh] = terms_.try_emplace(monomial, 0);
    const std::optional<std::int64_t> total = sum(place->second, coefficient);
    if (total) place->second = *total;
    if (place->second == 0) terms_.erase(place);
    return total.has_value();
  }

  // The terms of both, those of `b` by their coefficients as `sum` joins them with those of `a`, or with 0.
  // Nothing where that is no number.
  template <class Sum>
  static std::optional<PolynomialOver> joined(const PolynomialOver& a, const PolynomialOver& b, Sum&& sum) {
    PolynomialOver result;
    result.terms_.reserve(a.terms_.size() + b.terms_.size());
    auto left = a.terms_.begin();
    auto right = b.terms_.begin();
    while (left != a.terms_.end() || right != b.terms_.end()) {
      if (right == b.terms_.end() || (left != a.terms_.end() && Order{}(left->first, right->first))) {
        result.terms_.append(left->first, left->second);
        ++left;
        continue;
      }
      const bool both = left != a.terms_.end() && !Order{}(right->first, left->first);
      const std::optional<std::int64_t> total = sum(both ? left->second : 0, right->second);
      if (!total) return std::nullopt;
      if (*total != 0) result.terms_.append(right->first, *total);
      if (both) ++left;
      ++right;
    }
    return result;
  }

 private:
  Terms terms_;
};

}  // namespace relish

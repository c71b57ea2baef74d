// Solving indices for axes. Every index is an equation, a sum of unknowns that equals a target; a quotient q
// and a remainder r of e by c are two more unknowns with the equation e = c q + r, 0 <= r < c. An equation
// whose terms fall apart into multiples of c and a rest within [0, c) is two, by digits. Each equation is
// solved for one unknown, the one with most iterations; unknowns that none is solved for are free.
#include "loops/inversion.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "loops/range_prover.h"

namespace relish {
namespace {

using Terms = std::map<std::size_t, std::int64_t>;  // factors of unknowns, none of them 0

// The sum of the terms and of `rest`, in which no unknown stands.
struct Linear {
  Terms terms;
  Scalar rest;
};

struct Unknown {
  DomainAxis axis;  // of a quotient without known bounds an undefined extent
  std::optional<std::int64_t> low, high;
  bool own = false;  // made here
  enum { Open, Solved, Free } state = Open;

  // Which one an equation is solved for: one that cannot be run through, then that with most iterations.
  std::uint64_t weight() const {
    if (!axis.extent.defined()) return std::numeric_limits<std::uint64_t>::max();
    if (!low || !high) return std::numeric_limits<std::uint64_t>::max() - 1;
    return static_cast<std::uint64_t>(*high - *low);
  }
};

// Sum of terms = right.
struct Equation {
  Terms terms;
  Scalar right;
};

// unknown = (right - terms) / divisor.
struct Solution {
  std::size_t unknown;
  Terms terms;
  Scalar right;
  std::int64_t divisor;
};

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

Scalar number_like(const Scalar& like, std::int64_t value) { return int_literal(like.dtype(), value); }

class Inverter {
 public:
  Inverter(std::span<const ScalarVar> targets, std::span<const Scalar> extents,
           std::span<const DomainAxis> domain)
      : targets_(targets), extents_(extents) {
    for (const DomainAxis& axis : domain) {
      Unknown unknown{axis, {}, {}};
      const auto begin = axis.begin.as_int(), extent = axis.extent.as_int();
      if (begin && extent && *extent > 0) {
        unknown.low = *begin;
        unknown.high = *begin + *extent - 1;
      }
      position_.emplace(axis.var.id(), unknowns_.size());
      unknowns_.push_back(std::move(unknown));
    }
  }

  std::optional<Inversion> run(std::span<const Scalar> indices) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      auto form = linear(indices[i]);
      if (!form) return std::nullopt;
      equations_.push_back({std::move(form->terms), canonical(use(targets_[i]) - form->rest)});
    }
    while (solve_next()) {
    }
    return result();
  }

 private:
  bool has_unknown(const Scalar& scalar) const {
    std::vector<ScalarVar> vars;
    collect_vars(scalar, vars);
    return std::any_of(vars.begin(), vars.end(),
                       [&](const ScalarVar& var) { return position_.contains(var.id()); });
  }

  static void add(Terms& terms, std::size_t unknown, std::int64_t factor) {
    auto [place, fresh] = terms.try_emplace(unknown, 0);
    place->second += factor;
    if (place->second == 0) terms.erase(place);
  }

  static Linear sum(Linear a, const Linear& b, std::int64_t factor) {
    for (const auto& [unknown, c] : b.terms) add(a.terms, unknown, c * factor);
    a.rest = canonical(a.rest + b.rest * number_like(b.rest, factor));
    return a;
  }

  std::optional<Linear> linear(const Scalar& index) {
    if (const auto var = index.as_var()) {
      const auto found = position_.find(var->id());
      if (found != position_.end()) return Linear{{{found->second, 1}}, number_like(index, 0)};
    }
    if (!has_unknown(index)) return Linear{{}, index};
    if (const auto* node = index.as<Cast>()) {
      const bool widens = is_signed_int(node->a.dtype()) && is_signed_int(index.dtype()) &&
                          size_of(node->a.dtype()) <= size_of(index.dtype());
      return widens ? linear(node->a) : std::nullopt;
    }
    const auto* node = index.as<Binary>();
    if (!node || !is_signed_int(index.dtype())) return std::nullopt;
    switch (node->op) {
      case BinaryOp::Add:
      case BinaryOp::Sub: {
        auto a = linear(node->a), b = linear(node->b);
        if (!a || !b) return std::nullopt;
        return sum(std::move(*a), *b, node->op == BinaryOp::Add ? 1 : -1);
      }
      case BinaryOp::Mul: {
        const auto left = canonical(node->a).as_int(), right = canonical(node->b).as_int();
        if (!left && !right) return std::nullopt;
        auto scaled = linear(left ? node->b : node->a);
        if (!scaled) return std::nullopt;
        return sum(Linear{{}, number_like(index, 0)}, *scaled, left ? *left : *right);
      }
      default:
        return digit(*node, index);
    }
  }

  // A quotient or a remainder, as an unknown of its own.
  std::optional<Linear> digit(const Binary& node, const Scalar& index) {
    const bool quotient = node.op == BinaryOp::FloorDiv || node.op == BinaryOp::Div;
    const bool remainder = node.op == BinaryOp::FloorMod || node.op == BinaryOp::TruncMod;
    const auto divisor = canonical(node.b).as_int();
    if ((!quotient && !remainder) || !divisor || *divisor <= 0) return std::nullopt;
    const bool truncates = node.op == BinaryOp::Div || node.op == BinaryOp::TruncMod;
    for (const Division& known : divisions_) {
      if (known.divisor == *divisor && structurally_equal(known.dividend, node.a))
        return Linear{{{quotient ? known.quotient : known.remainder, 1}}, number_like(index, 0)};
    }
    auto dividend = linear(node.a);
    if (!dividend) return std::nullopt;
    const auto rest = dividend->rest.as_int();
    const auto range = range_of(dividend->terms);
    const bool bounded = rest && range;
    if (truncates && !(bounded && range->first + *rest >= 0)) return std::nullopt;
    Division made{node.a, *divisor, unknowns_.size(), unknowns_.size() + 1};
    Unknown q{{ScalarVar("q", index.dtype()), number_like(index, 0), Scalar()}, {}, {}, true};
    if (bounded) {
      q.low = floor_quotient(range->first + *rest, *divisor);
      q.high = floor_quotient(range->second + *rest, *divisor);
      q.axis.begin = number_like(index, *q.low);
      q.axis.extent = number_like(index, *q.high - *q.low + 1);
    }
    Unknown r{{ScalarVar("r", index.dtype()), number_like(index, 0), number_like(index, *divisor)},
              0,
              *divisor - 1,
              true};
    position_.emplace(q.axis.var.id(), unknowns_.size());
    unknowns_.push_back(std::move(q));
    position_.emplace(r.axis.var.id(), unknowns_.size());
    unknowns_.push_back(std::move(r));
    Equation definition{dividend->terms, canonical(number_like(dividend->rest, 0) - dividend->rest)};
    add(definition.terms, made.quotient, -*divisor);
    add(definition.terms, made.remainder, -1);
    equations_.push_back(std::move(definition));
    divisions_.push_back(made);
    return Linear{{{quotient ? made.quotient : made.remainder, 1}}, number_like(index, 0)};
  }

  std::optional<std::pair<std::int64_t, std::int64_t>> range_of(const Terms& terms) const {
    std::int64_t low = 0, high = 0;
    for (const auto& [unknown, factor] : terms) {
      const Unknown& u = unknowns_[unknown];
      if (!u.low || !u.high) return std::nullopt;
      low += factor * (factor > 0 ? *u.low : *u.high);
      high += factor * (factor > 0 ? *u.high : *u.low);
    }
    return std::pair(low, high);
  }

  // One step; false when no equation has an open unknown.
  bool solve_next() {
    std::size_t best = equations_.size();
    for (std::size_t i = 0; i < equations_.size(); ++i) {
      if (equations_[i].terms.empty()) continue;
      if (best == equations_.size() || equations_[i].terms.size() < equations_[best].terms.size()) best = i;
    }
    if (best == equations_.size()) return false;
    if (split_digits(best)) return true;
    const Equation equation = equations_[best];
    equations_.erase(equations_.begin() + static_cast<std::ptrdiff_t>(best));
    std::size_t pivot = equation.terms.begin()->first;
    for (const auto& [unknown, factor] : equation.terms)
      if (unknowns_[unknown].weight() > unknowns_[pivot].weight()) pivot = unknown;
    solve(equation, pivot);
    return true;
  }

  // c U + W = right with 0 <= W - low < c, as U = (right - low) // c and W = (right - low) % c + low.
  bool split_digits(std::size_t at) {
    const Equation equation = equations_[at];
    if (equation.terms.size() < 2) return false;
    std::vector<std::int64_t> factors;
    for (const auto& [unknown, factor] : equation.terms) factors.push_back(std::abs(factor));
    std::sort(factors.rbegin(), factors.rend());
    for (const std::int64_t c : factors) {
      if (c == 1) return false;
      Terms upper, lower;
      for (const auto& [unknown, factor] : equation.terms) {
        if (factor % c == 0)
          upper.emplace(unknown, factor / c);
        else
          lower.emplace(unknown, factor);
      }
      const auto range = range_of(lower);
      if (lower.empty() || !range || range->second - range->first >= c) continue;
      const Scalar shifted = canonical(equation.right - number_like(equation.right, range->first));
      const Scalar base = number_like(shifted, c);
      equations_[at] = {std::move(upper), canonical(floor_div(shifted, base))};
      equations_.push_back(
          {std::move(lower), canonical(floor_mod(shifted, base) + number_like(shifted, range->first))});
      return true;
    }
    return false;
  }

  void solve(const Equation& equation, std::size_t pivot) {
    const std::int64_t factor = equation.terms.at(pivot), divisor = std::abs(factor);
    Solution solution{pivot, {}, equation.right, divisor};
    if (factor < 0) solution.right = canonical(number_like(solution.right, 0) - solution.right);
    for (const auto& [unknown, c] : equation.terms)
      if (unknown != pivot) solution.terms.emplace(unknown, factor < 0 ? -c : c);
    unknowns_[pivot].state = Unknown::Solved;
    if (divisor == 1) {
      eliminate(solution);
    } else {
      // The quotient of a sum is no sum: what stands beside the pivot is run through.
      for (const auto& [unknown, c] : solution.terms) {
        unknowns_[unknown].state = Unknown::Free;
        solution.right =
            canonical(solution.right - use(unknowns_[unknown].axis.var) * number_like(solution.right, c));
      }
      solution.terms.clear();
      conditions_.push_back(equal(canonical(floor_mod(solution.right, number_like(solution.right, divisor))),
                                  number_like(solution.right, 0)));
      make_known();
      replace(pivot, canonical(floor_div(solution.right, number_like(solution.right, divisor))));
    }
    solutions_.push_back(std::move(solution));
  }

  // In other equations: what the pivot is, a sum.
  void eliminate(const Solution& solution) {
    for (Equation& other : equations_) {
      const auto found = other.terms.find(solution.unknown);
      if (found == other.terms.end()) continue;
      const std::int64_t factor = found->second;
      other.terms.erase(found);
      for (const auto& [unknown, c] : solution.terms) add(other.terms, unknown, -c * factor);
      other.right = canonical(other.right - solution.right * number_like(solution.right, factor));
    }
  }

  void replace(std::size_t unknown, const Scalar& value) {
    for (Equation& other : equations_) {
      const auto found = other.terms.find(unknown);
      if (found == other.terms.end()) continue;
      other.right = canonical(other.right - value * number_like(value, found->second));
      other.terms.erase(found);
    }
  }

  // Free unknowns go to the other side of all equations.
  void make_known() {
    for (std::size_t i = 0; i < unknowns_.size(); ++i)
      if (unknowns_[i].state == Unknown::Free) replace(i, use(unknowns_[i].axis.var));
  }

  std::optional<Inversion> result() {
    Inversion made;
    ScalarMap values;
    for (Unknown& unknown : unknowns_) {
      if (unknown.state == Unknown::Open) unknown.state = Unknown::Free;
      if (unknown.state == Unknown::Free && !unknown.axis.extent.defined()) return std::nullopt;
    }
    // A solution names what was open when it was made: solved later, or free.
    for (std::size_t i = solutions_.size(); i-- > 0;) {
      const Solution& solution = solutions_[i];
      Scalar value = substitute(solution.right, values);
      for (const auto& [unknown, factor] : solution.terms) {
        const ScalarVar& var = unknowns_[unknown].axis.var;
        const auto known = values.find(var.id());
        value = value - (known == values.end() ? use(var) : known->second) * number_like(value, factor);
      }
      if (solution.divisor > 1) value = floor_div(value, number_like(value, solution.divisor));
      const ScalarVar& var = unknowns_[solution.unknown].axis.var;
      values.insert_or_assign(var.id(), canonical(cast(var.dtype(), canonical(value))));
    }
    for (const Equation& equation : equations_) {
      made.sparse = true;
      conditions_.push_back(equal(canonical(equation.right), number_like(equation.right, 0)));
    }
    for (const Unknown& unknown : unknowns_) {
      if (unknown.state == Unknown::Free) {
        DomainAxis axis = unknown.axis;
        axis.begin = canonical(substitute(axis.begin, values));
        axis.extent = canonical(substitute(axis.extent, values));
        made.free.push_back(std::move(axis));
      }
    }
    add_conditions(made, values);
    for (const Unknown& unknown : unknowns_) {
      const auto found = values.find(unknown.axis.var.id());
      if (!unknown.own && found != values.end()) made.at.insert(*found);
    }
    return made;
  }

  void add_conditions(Inversion& made, const ScalarMap& values) {
    RangeProver prover;
    for (const Scalar& extent : extents_) {
      std::vector<ScalarVar> dims;
      collect_vars(extent, dims);
      for (const ScalarVar& dim : dims) prover.assume_dimension(dim);
    }
    for (std::size_t i = 0; i < targets_.size(); ++i)
      prover.enter_loop(targets_[i], number_like(extents_[i], 0), extents_[i]);
    for (const DomainAxis& axis : made.free) prover.enter_loop(axis.var, axis.begin, axis.extent);
    const auto require = [&](const Scalar& small, const Scalar& large) {
      const Scalar difference = canonical(large - small);
      if (!prover.nonnegative(difference)) made.conditions.push_back(compare(CompareOp::Le, small, large));
    };
    for (const Scalar& condition : conditions_) {
      const Scalar known = substitute(condition, values);
      const auto* sides = known.as<Compare>();
      const Scalar difference = canonical(sides->a - sides->b);
      if (prover.nonnegative(difference) &&
          prover.nonnegative(canonical(number_like(difference, 0) - difference)))
        continue;
      made.conditions.push_back(equal(canonical(sides->a), sides->b));
    }
    for (const Unknown& unknown : unknowns_) {
      const auto found = values.find(unknown.axis.var.id());
      if (found == values.end() || !unknown.axis.extent.defined()) continue;
      if (unknown.own && unknown.axis.var.name() == "q") continue;  // follows from the range of the dividend
      const Scalar begin = substitute(unknown.axis.begin, values);
      const Scalar extent = substitute(unknown.axis.extent, values);
      require(canonical(begin), found->second);
      require(found->second, canonical(begin + extent - number_like(begin, 1)));
    }
  }

  struct Division {
    Scalar dividend;
    std::int64_t divisor;
    std::size_t quotient, remainder;
  };

  std::span<const ScalarVar> targets_;
  std::span<const Scalar> extents_;
  std::vector<Unknown> unknowns_;
  std::unordered_map<std::uint64_t, std::size_t> position_;
  std::vector<Division> divisions_;
  std::vector<Equation> equations_;
  std::vector<Solution> solutions_;
  std::vector<Scalar> conditions_;  // equalities
};

}  // namespace

std::optional<Inversion> invert(std::span<const Scalar> indices, std::span<const ScalarVar> targets,
                                std::span<const Scalar> extents, std::span<const DomainAxis> domain) {
  return Inverter(targets, extents, domain).run(indices);
}

bool injective(std::span<const Scalar> indices, std::span<const Scalar> extents,
               std::span<const DomainAxis> domain) {
  std::vector<ScalarVar> targets;
  for (const Scalar& index : indices) targets.emplace_back("t", index.dtype());
  const auto inversion = invert(indices, targets, extents, domain);
  return inversion && std::all_of(inversion->free.begin(), inversion->free.end(), [](const DomainAxis& axis) {
           return axis.extent.as_int().value_or(2) <= 1;
         });
}

}  // namespace relish

// Canonical forms of integer expressions: a polynomial whose atoms are variables and what is not polynomial
// (divisions, minima, loads, ...) with canonical operands. Sizes are bounded: a product that would grow
// beyond the bounds stays an atom, so the form is weaker there but its cost never is more than the size of
// the text. Coefficients of int64, the dtype of sizes, are exact: what does not fit stays a sum or a product,
// so that no form is smaller than the size that it stands for.
#include <algorithm>
#include <numeric>

#include "ir/nodes/scalar.h"
#include "ir/scalars/polynomial.h"
#include "ir/scalars/scalar_order.h"
#include "support/checked.h"
#include "support/failure.h"

namespace relish {
namespace {

constexpr std::size_t max_product_terms = 256;
constexpr std::size_t max_degree = 16;
constexpr std::size_t max_product_nodes =
    1024;  // of the expanded product as a tree: it repeats its factors' atoms

struct CompareStructure {
  int operator()(const Scalar& a, const Scalar& b) const { return compare_structure(a, b); }
};
using Polynomial = PolynomialOver<Scalar, CompareStructure>;
using Monomial = Polynomial::Monomial;

Scalar int_term(DType dtype, std::int64_t value) { return int_literal(dtype, value); }

// How often a number stayed apart because its sum or product with another does not fit: which ones do depends
// on their order, so such a form is made once more of itself.
thread_local std::size_t numbers_apart = 0;

// The monomial with a number as one more atom: a coefficient that cannot be joined with another.
Monomial with_number(const Monomial& monomial, std::int64_t number, DType dtype) {
  ++numbers_apart;
  return Polynomial::product(monomial, {int_term(dtype, number)});
}

void add_term(Polynomial& into, const Monomial& monomial, std::int64_t coefficient, DType dtype) {
  const auto sum = [&](std::int64_t a, std::int64_t b) { return fold_exactly(BinaryOp::Add, dtype, a, b); };
  if (!into.add(monomial, coefficient, sum))
    add_term(into, with_number(monomial, coefficient, dtype), 1, dtype);
}

// Adds a * b * monomial.
void add_product(Polynomial& into, const Monomial& monomial, std::int64_t a, std::int64_t b, DType dtype) {
  if (const CheckedInt product = fold_exactly(BinaryOp::Mul, dtype, a, b))
    return add_term(into, monomial, *product, dtype);
  add_term(into, with_number(monomial, a, dtype), b, dtype);
}

void add_scaled(Polynomial& into, const Polynomial& terms, std::int64_t factor, DType dtype) {
  for (const auto& [monomial, coefficient] : terms.terms())
    add_product(into, monomial, coefficient, factor, dtype);
}

// Nodes of the expression as a tree, counted up to `most`.
std::size_t tree_size(const Scalar& root, std::size_t most) {
  std::vector<const Scalar*> stack{&root};
  std::size_t count = 0;
  for (; !stack.empty() && count < most; ++count) {
    const Scalar& scalar = *stack.back();
    stack.pop_back();
    for_each_operand(scalar, [&](const Scalar& operand) { stack.push_back(&operand); });
  }
  return count;
}

std::size_t tree_size(const Polynomial& p, std::size_t most) {
  std::size_t count = 0;
  for (const auto& [monomial, coefficient] : p.terms()) {
    ++count;
    for (const Scalar& atom : monomial) {
      if (count >= most) return count;
      count += tree_size(atom, most - count);
    }
  }
  return count;
}

bool may_expand(const Polynomial& a, const Polynomial& b) {
  if (a.terms().size() * b.terms().size() > max_product_terms || a.degree() + b.degree() > max_degree)
    return false;
  return tree_size(a, max_product_nodes) * b.terms().size() +
             tree_size(b, max_product_nodes) * a.terms().size() <=
         max_product_nodes;
}

// The monomial as a product with a positive coefficient: `m * n * 2`.
Scalar rebuild_term(const Monomial& monomial, std::int64_t coefficient, DType dtype) {
  if (monomial.empty()) return int_term(dtype, coefficient);
  Scalar product = monomial[0];
  for (std::size_t i = 1; i < monomial.size(); ++i) product = product * monomial[i];
  return coefficient == 1 ? product : product * int_term(dtype, coefficient);
}

// Terms in order, but a positive one first where there is one, so that `m - n` needs no leading minus.
Scalar rebuild(const Polynomial& p, DType dtype) {
  if (p.is_zero()) return int_term(dtype, 0);
  // Unsigned coefficients never print as negative; the least integer has no positive counterpart.
  auto negative = [&](std::int64_t c) { return is_signed_int(dtype) && c < 0 && c != INT64_MIN; };
  auto first = std::find_if(p.terms().begin(), p.terms().end(),
                            [&](const auto& term) { return !negative(term.second); });
  if (first == p.terms().end()) first = p.terms().begin();
  Scalar sum = rebuild_term(first->first, first->second, dtype);
  for (auto term = p.terms().begin(); term != p.terms().end(); ++term) {
    if (term == first) continue;
    const auto& [monomial, coefficient] = *term;
    sum = negative(coefficient) ? sum - rebuild_term(monomial, -coefficient, dtype)
                                : sum + rebuild_term(monomial, coefficient, dtype);
  }
  return sum;
}

// p / q when q divides p without remainder.
std::optional<Polynomial> exact_quotient(Polynomial p, const Polynomial& q, DType dtype) {
  if (q.is_zero() || p.terms().size() * q.terms().size() > max_product_terms) return std::nullopt;
  const auto& [lead, lead_coefficient] = *q.terms().begin();
  Polynomial quotient;
  for (std::size_t step = 0; !p.is_zero(); ++step) {
    const auto& [monomial, coefficient] = *p.terms().begin();
    std::optional<Monomial> rest = Polynomial::quotient(monomial, lead);
    if (!rest || step > max_product_terms || p.terms().size() > max_product_terms) return std::nullopt;
    if (lead_coefficient == -1 ? coefficient == INT64_MIN : coefficient % lead_coefficient != 0)
      return std::nullopt;
    const std::int64_t factor = coefficient / lead_coefficient;
    const CheckedInt negated = fold_exactly(BinaryOp::Sub, dtype, 0, factor);
    if (!negated) return std::nullopt;
    add_term(quotient, *rest, factor, dtype);
    for (const auto& [other, c] : q.terms())
      add_product(p, Polynomial::product(other, *rest), c, *negated, dtype);
  }
  return quotient;
}

class Canonicalizer {
 public:
  // Adds factor * s, an integer expression, to `into`.
  void accumulate(const Scalar& s, std::int64_t factor, Polynomial& into) {
    const DType dtype = s.dtype();
    if (const auto* literal = s.as<IntLiteral>()) {
      return add_product(into, {}, literal->value, factor, dtype);
    }
    if (s.as<VarUse>()) return add_term(into, {s}, factor, dtype);
    if (const auto* binary = s.as<Binary>()) return accumulate_binary(s, *binary, factor, into);
    if (const auto* choice = s.as<Select>()) {
      const Scalar condition = canonical(choice->condition);
      if (auto value = condition.as_int()) return accumulate(*value ? choice->a : choice->b, factor, into);
    }
    add_atom(into, non_polynomial(s), factor);
  }

  Scalar canonical(const Scalar& s) {
    if (!is_int(s.dtype())) return non_polynomial(s);
    if (s.as<VarUse>() || s.as<IntLiteral>()) return s;
    Polynomial p;
    accumulate(s, 1, p);
    return rebuild(p, s.dtype());
  }

 private:
  void add_atom(Polynomial& into, const Scalar& atom, std::int64_t factor) {
    if (const auto* literal = atom.as<IntLiteral>()) {
      add_product(into, {}, literal->value, factor, atom.dtype());
    } else {
      add_term(into, {atom}, factor, atom.dtype());
    }
  }

  Polynomial polynomial(const Scalar& s) {
    Polynomial p;
    accumulate(s, 1, p);
    return p;
  }

  void accumulate_binary(const Scalar& s, const Binary& node, std::int64_t factor, Polynomial& into) {
    const DType dtype = s.dtype();
    switch (node.op) {
      case BinaryOp::Add:
        accumulate(node.a, factor, into);
        return accumulate(node.b, factor, into);
      case BinaryOp::Sub:
        if (const CheckedInt negated = fold_exactly(BinaryOp::Sub, dtype, 0, factor)) {
          accumulate(node.a, factor, into);
          return accumulate(node.b, *negated, into);
        }
        ++numbers_apart;
        return add_atom(into, canonical(node.a) - canonical(node.b), factor);
      case BinaryOp::Mul:
        for (const auto& [number, other] : {std::pair{&node.b, &node.a}, std::pair{&node.a, &node.b}}) {
          if (!number->as_int()) continue;
          if (const CheckedInt scaled = fold_exactly(BinaryOp::Mul, dtype, factor, *number->as_int()))
            return accumulate(*other, *scaled, into);
          ++numbers_apart;
          return add_atom(into, canonical(*other) * *number, factor);
        }
        return accumulate_product(node, dtype, factor, into);
      default:
        return accumulate_other(node, dtype, factor, into);
    }
  }

  // Whether all coefficients of factor * a * b are integers of the dtype.
  static bool products_fit(const Polynomial& a, const Polynomial& b, std::int64_t factor, DType dtype) {
    for (const auto& [x, cx] : a.terms()) {
      const CheckedInt scaled = fold_exactly(BinaryOp::Mul, dtype, cx, factor);
      if (!scaled) return false;
      for (const auto& [y, cy] : b.terms())
        if (!fold_exactly(BinaryOp::Mul, dtype, *scaled, cy)) return false;
    }
    return true;
  }

  void accumulate_product(const Binary& node, DType dtype, std::int64_t factor, Polynomial& into) {
    const Polynomial a = polynomial(node.a), b = polynomial(node.b);
    const bool fits = products_fit(a, b, factor, dtype);
    if (!fits) ++numbers_apart;
    if (!may_expand(a, b) || !fits) {
      Scalar left = rebuild(a, dtype), right = rebuild(b, dtype);
      if (compare_structure(right, left) < 0) std::swap(left, right);
      return add_atom(into, left * right, factor);
    }
    for (const auto& [x, cx] : a.terms()) {
      const std::int64_t scaled = *fold_exactly(BinaryOp::Mul, dtype, cx, factor);
      for (const auto& [y, cy] : b.terms()) add_product(into, Polynomial::product(x, y), scaled, cy, dtype);
    }
  }

  void accumulate_other(const Binary& node, DType dtype, std::int64_t factor, Polynomial& into) {
    Polynomial a = polynomial(node.a), b = polynomial(node.b);
    const auto ca = a.constant(), cb = b.constant();
    if (ca && cb) {
      if (auto folded = fold_exactly(node.op, dtype, *ca, *cb))
        return add_product(into, {}, *folded, factor, dtype);
    }
    switch (node.op) {
      case BinaryOp::FloorDiv:
      case BinaryOp::Div:
        return accumulate_division(node.op, std::move(a), b, dtype, factor, into);
      case BinaryOp::FloorMod:
      case BinaryOp::TruncMod:
        return accumulate_remainder(node.op, a, b, dtype, factor, into);
      case BinaryOp::Min:
      case BinaryOp::Max: {
        Polynomial difference = a;
        add_scaled(difference, b, -1, dtype);
        if (auto constant = difference.constant(); constant && is_signed_int(dtype)) {
          const bool take_a = node.op == BinaryOp::Min ? *constant <= 0 : *constant >= 0;
          return add_scaled(into, take_a ? a : b, factor, dtype);
        }
        Scalar left = rebuild(a, dtype), right = rebuild(b, dtype);
        if (compare_structure(left, right) == 0) return add_scaled(into, a, factor, dtype);
        // A literal stands last, as people write it.
        const bool swap = right.as_int() ? false : left.as_int() || compare_structure(right, left) < 0;
        if (swap) std::swap(left, right);
        return add_atom(into, binary(node.op, left, right), factor);
      }
      default:
        return add_atom(into, binary(node.op, rebuild(a, dtype), rebuild(b, dtype)), factor);
    }
  }

  // Splits `a` into what the positive `divisor` divides and a rest whose constant is in [0, divisor).
  static Polynomial split_multiple(Polynomial& a, std::int64_t divisor, DType dtype) {
    Polynomial quotient, rest;
    for (const auto& [monomial, coefficient] : a.terms()) {
      if (monomial.empty()) {
        const std::int64_t q = *fold_binary(BinaryOp::FloorDiv, dtype, coefficient, divisor);
        add_term(quotient, monomial, q, dtype);
        add_term(rest, monomial, *fold_binary(BinaryOp::FloorMod, dtype, coefficient, divisor), dtype);
      } else if (coefficient % divisor == 0) {
        add_term(quotient, monomial, coefficient / divisor, dtype);
      } else {
        add_term(rest, monomial, coefficient, dtype);
      }
    }
    a = std::move(rest);
    return quotient;
  }

  void accumulate_division(BinaryOp op, Polynomial a, const Polynomial& b, DType dtype, std::int64_t factor,
                           Polynomial& into) {
    if (is_signed_int(dtype)) {
      if (auto quotient = exact_quotient(a, b, dtype)) return add_scaled(into, *quotient, factor, dtype);
    }
    std::int64_t divisor = b.constant().value_or(0);
    if (op == BinaryOp::FloorDiv && divisor > 0 && is_signed_int(dtype)) {
      add_scaled(into, split_multiple(a, divisor, dtype), factor, dtype);
      if (a.constant()) return;  // in [0, divisor), so the quotient is 0
      // floor((g x + r) / (g d)) = floor((x + floor(r / g)) / d).
      std::int64_t common = divisor;
      for (const auto& [monomial, coefficient] : a.terms()) {
        if (!monomial.empty()) common = std::gcd(common, coefficient % divisor);
      }
      Polynomial reduced;
      for (const auto& [monomial, coefficient] : a.terms()) {
        add_term(reduced, monomial, *fold_binary(BinaryOp::FloorDiv, dtype, coefficient, common), dtype);
      }
      divisor /= common;
      if (divisor == 1) return add_scaled(into, reduced, factor, dtype);
      Scalar numerator = rebuild(reduced, dtype);
      // floor(floor(x / c) / d) = floor(x / (c d)).
      const auto* inner = numerator.as<Binary>();
      if (inner && inner->op == BinaryOp::FloorDiv && inner->b.as_int().value_or(0) > 0) {
        const __int128 joined = static_cast<__int128>(*inner->b.as_int()) * divisor;
        if (joined <= INT32_MAX) {
          return accumulate(floor_div(inner->a, int_term(dtype, static_cast<std::int64_t>(joined))), factor,
                            into);
        }
      }
      return add_atom(into, floor_div(numerator, int_term(dtype, divisor)), factor);
    }
    if (divisor == 1) return add_scaled(into, a, factor, dtype);
    add_atom(into, binary(op, rebuild(a, dtype), rebuild(b, dtype)), factor);
  }

  void accumulate_remainder(BinaryOp op, const Polynomial& a, const Polynomial& b, DType dtype,
                            std::int64_t factor, Polynomial& into) {
    if (is_signed_int(dtype) && exact_quotient(a, b, dtype)) return;
    const std::int64_t divisor = b.constant().value_or(0);
    if (op == BinaryOp::FloorMod && divisor > 0 && is_signed_int(dtype)) {
      Polynomial reduced;
      for (const auto& [monomial, coefficient] : a.terms()) {
        add_term(reduced, monomial, *fold_binary(BinaryOp::FloorMod, dtype, coefficient, divisor), dtype);
      }
      if (auto constant = reduced.constant()) {
        return add_product(into, {}, *constant, factor, dtype);
      }
      return add_atom(into, floor_mod(rebuild(reduced, dtype), int_term(dtype, divisor)), factor);
    }
    add_atom(into, binary(op, rebuild(a, dtype), rebuild(b, dtype)), factor);
  }

  // The expression with canonical operands, folded where its operands are literals.
  Scalar non_polynomial(const Scalar& s) {
    return std::visit([&](const auto& node) { return apply(s, node); }, s->kind);
  }

  Scalar apply(const Scalar& s, const IntLiteral&) { return s; }
  Scalar apply(const Scalar& s, const FloatLiteral&) { return s; }
  Scalar apply(const Scalar& s, const VarUse&) { return s; }
  Scalar apply(const Scalar& s, const Binary& n) {
    return rebuilt(s, Binary{n.op, canonical(n.a), canonical(n.b)});  // of floats or bools
  }
  Scalar apply(const Scalar& s, const Compare& n) {
    Scalar a = canonical(n.a), b = canonical(n.b);
    if (is_int(a.dtype())) {
      if (a.as_int() && b.as_int())
        return bool_literal(fold_compare(n.op, a.dtype(), *a.as_int(), *b.as_int()));
      if (structurally_equal(a, b)) return bool_literal(fold_compare(n.op, a.dtype(), 0, 0));
      if (is_signed_int(a.dtype())) {
        Polynomial difference;
        accumulate(a, 1, difference);
        accumulate(b, -1, difference);
        if (auto constant = difference.constant())
          return bool_literal(fold_compare(n.op, a.dtype(), *constant, 0));
      }
    }
    return rebuilt(s, Compare{n.op, std::move(a), std::move(b)});
  }
  Scalar apply(const Scalar& s, const Logical& n) {
    Scalar a = canonical(n.a), b = canonical(n.b);
    const bool absorbing = n.op == LogicalOp::Or;
    for (const auto& [side, other] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      if (auto value = side->as_int()) return (*value != 0) == absorbing ? *side : *other;
    }
    return rebuilt(s, Logical{n.op, std::move(a), std::move(b)});
  }
  Scalar apply(const Scalar& s, const Not& n) {
    Scalar a = canonical(n.a);
    if (auto value = a.as_int()) return bool_literal(*value == 0);
    return rebuilt(s, Not{std::move(a)});
  }
  Scalar apply(const Scalar& s, const Select& n) {
    Scalar condition = canonical(n.condition), a = canonical(n.a), b = canonical(n.b);
    if (auto value = condition.as_int()) return *value ? a : b;
    return rebuilt(s, Select{std::move(condition), std::move(a), std::move(b), n.lazy});
  }
  Scalar apply(const Scalar& s, const Cast& n) {
    Scalar a = canonical(n.a);
    if (a.as_int() && is_int(s.dtype()) && a.dtype() != DType::UInt64) {
      return int_literal(s.dtype(), wrap_to(s.dtype(), *a.as_int()));
    }
    return rebuilt(s, Cast{std::move(a)});
  }
  Scalar apply(const Scalar& s, const Reinterpret& n) { return rebuilt(s, Reinterpret{canonical(n.a)}); }
  Scalar apply(const Scalar& s, const Let& n) {
    return rebuilt(s, Let{n.var, canonical(n.value), canonical(n.body)});
  }
  Scalar apply(const Scalar& s, const Load& n) { return rebuilt(s, Load{n.buffer, all(n.indices)}); }
  Scalar apply(const Scalar& s, const IntrinsicCall& n) {
    return rebuilt(s, IntrinsicCall{n.intrinsic, all(n.args)});
  }
  Scalar apply(const Scalar& s, const TextLiteral&) { return s; }
  Scalar apply(const Scalar& s, const DataOf&) { return s; }
  Scalar apply(const Scalar& s, const ForeignCall&) { return s; }

  std::vector<Scalar> all(const std::vector<Scalar>& list) {
    std::vector<Scalar> result;
    result.reserve(list.size());
    for (const Scalar& item : list) result.push_back(canonical(item));
    return result;
  }

  static Scalar rebuilt(const Scalar& s, ScalarKind kind) {
    return Scalar(std::make_shared<const ScalarNode>(s->span, s->dtype, std::move(kind)));
  }
};

// a - b for integers of one dtype.
std::optional<Polynomial> difference_of(const Scalar& a, const Scalar& b) {
  if (!is_int(a.dtype()) || a.dtype() != b.dtype()) return std::nullopt;
  Polynomial difference;
  Canonicalizer canonicalizer;
  canonicalizer.accumulate(a, 1, difference);
  canonicalizer.accumulate(b, -1, difference);
  return difference;
}

}  // namespace

// Where numbers stay apart, the form of a form may be another one; forms that become each other are one size,
// which the least of them stands for.
Scalar canonical(const Scalar& expression) {
  constexpr std::size_t most_rounds = 16;
  std::vector<Scalar> forms;
  for (Scalar form = expression;;) {
    const std::size_t before = numbers_apart;
    Scalar next = Canonicalizer().canonical(form);
    if (numbers_apart == before || forms.size() == most_rounds) return next;
    const auto same = [&](const Scalar& known) { return structurally_equal(known, next); };
    const auto first = std::find_if(forms.begin(), forms.end(), same);
    if (first != forms.end()) {
      return *std::min_element(first, forms.end(),
                               [](const Scalar& a, const Scalar& b) { return compare_structure(a, b) < 0; });
    }
    forms.push_back(next);
    form = std::move(next);
  }
}

bool prove_equal(const Scalar& a, const Scalar& b) {
  if (a.same_as(b)) return true;
  if (a.as<IntLiteral>() && b.as<IntLiteral>()) return a.as_int() == b.as_int();
  const std::size_t before = numbers_apart;
  if (auto difference = difference_of(a, b)) {
    if (difference->is_zero() || numbers_apart == before) return difference->is_zero();
  }
  return structurally_equal(canonical(a), canonical(b));
}

bool prove_different(const Scalar& a, const Scalar& b) {
  if (a.same_as(b)) return false;
  if (a.as<IntLiteral>() && b.as<IntLiteral>()) return a.as_int() != b.as_int();
  if (auto difference = difference_of(a, b)) return difference->constant().value_or(0) != 0;
  const Scalar x = canonical(a), y = canonical(b);
  const auto *fx = x.as<FloatLiteral>(), *fy = y.as<FloatLiteral>();
  if (fx && fy) return fx->value != fy->value;
  return x.as<IntLiteral>() && y.as<IntLiteral>() && x.as_int() != y.as_int();
}

Scalar product(const std::vector<Scalar>& dims) {
  if (dims.empty()) return Scalar(1);
  Scalar result = dims[0];
  for (std::size_t i = 1; i < dims.size(); ++i) result = result * dims[i];
  return canonical(result);
}

}  // namespace relish

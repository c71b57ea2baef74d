// Finding the two digits of a number among the terms of a sum.
#include "loops/digits.h"

#include <optional>
#include <vector>

namespace relish {
namespace {

struct Term {
  std::int64_t factor;
  Scalar atom;
};

void flatten(const Scalar& sum, std::int64_t factor, std::vector<Term>& into) {
  const auto* node = sum.as<Binary>();
  const auto number = node && node->op == BinaryOp::Mul ? node->b.as_int() : std::nullopt;
  if (node && (node->op == BinaryOp::Add || node->op == BinaryOp::Sub)) {
    flatten(node->a, factor, into);
    flatten(node->b, node->op == BinaryOp::Add ? factor : -factor, into);
  } else if (number) {
    flatten(node->a, factor * *number, into);
  } else {
    into.push_back({factor, sum});
  }
}

// The operands of a quotient or a remainder by a positive number.
const Binary* digit(const Term& term, BinaryOp op) {
  const auto* node = term.atom.as<Binary>();
  return node && node->op == op && node->b.as_int().value_or(0) > 0 ? node : nullptr;
}

// One pair of terms that are the digits of a number becomes that number.
bool join_two(std::vector<Term>& terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Binary* quotient = digit(terms[i], BinaryOp::FloorDiv);
    if (!quotient) continue;
    const std::int64_t divisor = *quotient->b.as_int();
    for (std::size_t j = 0; j < terms.size(); ++j) {
      const Binary* remainder = digit(terms[j], BinaryOp::FloorMod);
      if (!remainder || remainder->b.as_int() != divisor || terms[i].factor != terms[j].factor * divisor ||
          !structurally_equal(quotient->a, remainder->a))
        continue;
      const Scalar whole = quotient->a;
      terms[j].atom = whole;
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
  }
  return false;
}

}  // namespace

Scalar rejoined(const Scalar& index) {
  const Scalar plain = canonical(index);
  std::vector<Term> terms;
  flatten(plain, 1, terms);
  bool changed = false;
  while (join_two(terms)) changed = true;
  if (!changed) return plain;
  Scalar sum;
  for (const Term& term : terms) {
    const Scalar scaled = term.atom * int_literal(term.atom.dtype(), term.factor);
    sum = sum.defined() ? sum + scaled : scaled;
  }
  return canonical(sum);
}

}  // namespace relish

// Finding the two digits of a number among the terms of a sum.
#include "loops/digits.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

bool has_digits(const Scalar& index) {
  bool found = false;
  for_each_scalar(index, [&](const Scalar& part) {
    const auto* node = part.as<Binary>();
    found = found || (node && (node->op == BinaryOp::FloorDiv || node->op == BinaryOp::FloorMod));
  });
  return found;
}

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

// Whether the two are the digits of one number: n // (c * m) and (n // c) % m, where c is 1 or stands there.
bool are_digits(const Binary& quotient, const Binary& remainder) {
  const std::int64_t divisor = *quotient.b.as_int(), base = *remainder.b.as_int();
  if (divisor == base) return structurally_equal(quotient.a, remainder.a);
  const auto* inner = remainder.a.as<Binary>();
  return inner && inner->op == BinaryOp::FloorDiv && divisor % base == 0 &&
         inner->b.as_int() == divisor / base && structurally_equal(inner->a, quotient.a);
}

// One pair of terms that are the digits of a number becomes that number.
bool join_two(std::vector<Term>& terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Binary* quotient = digit(terms[i], BinaryOp::FloorDiv);
    if (!quotient) continue;
    for (std::size_t j = 0; j < terms.size(); ++j) {
      const Binary* remainder = digit(terms[j], BinaryOp::FloorMod);
      if (!remainder || terms[i].factor != terms[j].factor * *remainder->b.as_int() ||
          !are_digits(*quotient, *remainder))
        continue;
      // The number may be a sum, of which a term is the quotient for another remainder.
      const Scalar whole = remainder->a;
      const std::int64_t factor = terms[j].factor;
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
      flatten(whole, factor, terms);
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

std::optional<Scalar> counted_place(const Buffer& buffer, const std::vector<Scalar>& indices) {
  if (!buffer.strides().empty() || std::none_of(indices.begin(), indices.end(), has_digits))
    return std::nullopt;
  const DType dtype = indices.front().dtype();
  if (dtype != DType::Int32 && dtype != DType::Int64) return std::nullopt;
  std::int64_t stride = 1;
  Scalar place;
  for (std::size_t d = indices.size(); d-- > 0;) {
    const auto extent = buffer.shape()[d].as_int();
    if (!extent || indices[d].dtype() != dtype) return std::nullopt;
    const Scalar part = indices[d] * int_literal(dtype, stride);
    place = place.defined() ? place + part : part;
    if (__builtin_mul_overflow(stride, *extent, &stride) || stride > INT32_MAX) return std::nullopt;
  }
  const Scalar whole = rejoined(place);
  return has_digits(whole) ? std::nullopt : std::optional(whole);
}

}  // namespace relish

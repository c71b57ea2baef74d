// Exponentials: base^x = 2^n * base^r with the integer n that leaves the least r, whose power is a
// polynomial.
#include "jit/math/exponential.h"

#include "jit/math/coefficients.h"
#include "jit/math/format.h"

namespace relish::jit {
namespace {

// The integer nearest to a number, as a number and as bits. Adding 1.5 * 2^digits leaves the integer in the
// lowest bits, also of what is no number (a conversion of NaN would be undefined).
struct Nearest {
  Number number;
  Bits bits;
};

Nearest nearest_of_product(Number x, double factor) {
  const double shift = format_of(x).one_and_half_beyond_integers;
  const Number shifted = fused(x, factor, shift);
  return {shifted - shift, bits_of(shifted) - bits_of(x.of(shift))};
}

// x - n * (first + rest), in which the first product is exact, and what its rounding lost.
struct Reduced {
  Number number;
  Number low;
};

Reduced reduced(Number x, Number n, double first, double rest) {
  const Number front = fused(n, -first, x);
  const Number number = fused(n, -rest, front);
  return {number, fused(n, -rest, front - number)};
}

// (a + a_low) / (b + b_low).
Number quotient(Number a, Number a_low, Number b, Number b_low) {
  const Number inverse = 1.0 / b;
  const Number first = a * inverse;
  const Number remainder = fused(-first, b, a) + fused(-first, b_low, a_low);
  return fused(remainder, inverse, first);
}

// What a + b lost as a sum, where a is 0 or the larger one.
Number lost_of_sum(Number a, Number b, Number sum) { return b - (sum - a); }

// A power at a number below which it is 0. That is chosen, not computed: processors take a hundred cycles for
// a product that has no normal result.
struct Vanishing {
  Flag below;

  Number operand(Number x) const { return select(below, 0, x); }
  Number result(Number power) const { return select(below, 0, power); }
};

}  // namespace

Number power_of_two(Bits n) {
  const Format& format = format_of(n);
  return number_of((n + format.bias) << format.digits);
}

Number scaled(Number y, Bits n) {
  const Format& format = format_of(n);
  // In two steps, of which only the second can round. The half is taken of a positive number.
  const Bits half = (n + 4 * format.bias) >> 1;
  const Number first = number_of((half - format.bias) << format.digits);
  const Number second = number_of((n - half + 3 * format.bias) << format.digits);
  return y * first * second;
}

Exponential exponential_parts(Number x) {
  const Nearest n = nearest_of_product(x, log2_of_e);
  const bool single = x.single();
  const Reduced r = single ? reduced(x, n.number, ln2_first_single, ln2_rest_single)
                           : reduced(x, n.number, ln2_first_double, ln2_rest_double);
  const Number q = single ? polynomial(r.number, exp_single) : polynomial(r.number, exp_double);
  const Number curved = r.number * r.number * q;
  const Number rest = r.number + curved;
  return {n.bits, rest, lost_of_sum(r.number, curved, rest) + r.low};
}

Number exponential(Number x) {
  const Format& format = format_of(x);
  const Vanishing vanishing{x < format.exp_vanishes};
  const Exponential parts = exponential_parts(vanishing.operand(at_most(x, format.exp_overflows)));
  return vanishing.result(scaled(1.0 + parts.rest, parts.n));
}

Number exponential_of_two(Number x) {
  const Format& format = format_of(x);
  const Vanishing vanishing{x < format.exp2_vanishes};
  const Number bounded = vanishing.operand(at_most(x, format.exp2_overflows));
  const Nearest n = nearest_of_product(bounded, 1);
  const Number r = bounded - n.number;
  const Number q = x.single() ? polynomial(r, exp2_single) : polynomial(r, exp2_double);
  return vanishing.result(scaled(fused(r, q, 1), n.bits));
}

Number exponential_of_ten(Number x) {
  const Format& format = format_of(x);
  const Vanishing vanishing{x < format.exp10_vanishes};
  const Number bounded = vanishing.operand(at_most(x, format.exp10_overflows));
  const Nearest n = nearest_of_product(bounded, log2_of_10);
  const bool single = x.single();
  const Reduced reduced_x = single ? reduced(bounded, n.number, log10_2_first_single, log10_2_rest_single)
                                   : reduced(bounded, n.number, log10_2_first_double, log10_2_rest_double);
  const Number r = reduced_x.number;
  const Number q = single ? polynomial(r, exp10_single) : polynomial(r, exp10_double);
  return vanishing.result(scaled(fused(r, q, 1), n.bits));
}

Number exponential_less_one(Number x) {
  const Format& format = format_of(x);
  const Exponential parts =
      exponential_parts(at_least(at_most(x, format.exp_overflows), -format.tanh_is_one * 2));
  // Half of it: 2^n itself may be too large.
  const Number half = power_of_two(parts.n - 1);
  const Number whole = half - 0.5, part = half * parts.rest;
  const Number sum = whole + part;
  const Number low = fused(half, parts.low, lost_of_sum(whole, part, sum));
  return select(magnitude(x) < format.linear, x, 2.0 * (sum + low));
}

Number sigmoid(Number x) {
  // e^-|x| only, so that nothing overflows where the result is small but not zero.
  const Format& format = format_of(x);
  const Number below = -magnitude(x);
  const Vanishing vanishing{below < format.exp_vanishes};
  const Exponential parts = exponential_parts(vanishing.operand(below));
  const Number front = 1.0 + parts.rest;
  const Number e = vanishing.result(scaled(front, parts.n));
  const Number sum = 1.0 + e;
  const Flag negative = x < 0;
  const Number above = select(negative, e, 1);
  if (x.single()) return above / sum;
  const Number e_low = vanishing.result(scaled(lost_of_sum(x.of(1), parts.rest, front) + parts.low, parts.n));
  return quotient(above, select(negative, e_low, 0), sum, lost_of_sum(x.of(1), e, sum) + e_low);
}

// Of |x|: (e^2|x| - 1) / (e^2|x| + 1) in terms of t = e^-2|x|. Near 0 as (1 - t) / (1 + t) with 1 - t known
// exactly, elsewhere as 1 - 2 t / (1 + t), where the quotient is the small part.
Number hyperbolic_tangent(Number x) {
  const Number size = magnitude(x);
  const Exponential parts = exponential_parts(-2.0 * at_most(size, format_of(x).tanh_is_one));
  const Number power = power_of_two(parts.n);
  const Flag near = size < 0.6;
  const Number part = power * parts.rest;
  const Number below = (power + 1) + part;
  const Number difference = (1.0 - power) - part;
  const Number above = select(near, difference, 2.0 * (power + part));
  Number ratio = x;
  if (x.single()) {
    ratio = above / below;
  } else {
    const Number low = power * parts.low;
    const Number difference_low = lost_of_sum(1.0 - power, -part, difference) - low;
    ratio =
        quotient(above, select(near, difference_low, 0), below, lost_of_sum(power + 1, part, below) + low);
  }
  return with_sign_of(select(near, ratio, 1.0 - ratio), x);
}

Number hyperbolic_sine(Number x) {
  const Format& format = format_of(x);
  const Number size = magnitude(x);
  const Exponential parts = exponential_parts(at_most(size, format.sinh_overflows));
  const Number quarter = power_of_two(parts.n - 2);
  const Number whole = quarter - 0.25, part = quarter * parts.rest;
  const Number sum = whole + part;
  const Number low = fused(quarter, parts.low, lost_of_sum(whole, part, sum));
  // With h = (e^|x| - 1) / 2 it is h + h / (2 h + 1), of which the quotient is soon 1/2.
  const Number h = 2.0 * sum, h_low = 2.0 * low;
  const Number bounded = at_most(h, 0x1p60);
  const Number twice = 2.0 * bounded, below = twice + 1;
  const Number added = below - twice;
  const Number below_low = (twice - (below - added)) + (1.0 - added) + 2.0 * h_low;
  const Number result = h + (quotient(bounded, h_low, below, below_low) + h_low);
  return select(size < format.linear, x, with_sign_of(result, x));
}

Number hyperbolic_cosine(Number x) {
  const Exponential parts = exponential_parts(at_most(magnitude(x), format_of(x).sinh_overflows));
  const Number quarter = power_of_two(parts.n - 2);
  const Number half = 2.0 * fused(quarter, parts.rest, quarter);
  return half + 0.25 / half;
}

}  // namespace relish::jit

// Logarithms: log(2^k (1 + f)) = k log(2) + log(1 + f), of which the last is f and a small rest.
#include "jit/math/logarithm.h"

#include "jit/math/coefficients.h"
#include "jit/math/format.h"

namespace relish::jit {
namespace {

constexpr double root_of_half = 0x1.6a09e667f3bcdp-1;

// Also of subnormal numbers.
Decomposed decomposed_of_any(Number x) {
  const Format& format = format_of(x);
  const Flag tiny = x < format.least_normal;
  const double shift = format.digits + 2;
  const Number normal = select(tiny, x * (x.single() ? 0x1p25 : 0x1p54), x);
  const Decomposed parts = decomposed(normal);
  return {parts.power - select(tiny, shift, x.of(0)), parts.fraction};
}

// The result, or what it is of 0, negative numbers, infinity and NaN.
Number with_special_values(Number x, Number result) {
  const Number of_others = select(x == 0, -infinity, x.of(not_a_number));
  return select(x > 0, select(x == infinity, x, result), select(is_nan(x), x, of_others));
}

// k log_b(2) + log_b(1 + f) with 1 / log(b) in two parts: the product with the first is exact of half of f.
Number of_base(Decomposed parts, Number power_first, Number power_rest, double first, double rest) {
  const Number f = parts.fraction;
  const Number front = number_of(bits_of(f) & (f.single() ? -0x1000 : -0x8000000));
  const Number beyond = logarithm_beyond_linear(f);
  const Number small = fused(f - front, first, fused(f, rest, beyond * (first + rest)));
  return fused(front, first, small + power_rest) + power_first;
}

}  // namespace

Decomposed decomposed(Number x) {
  const Format& format = format_of(x);
  const Number lowest = x.of(root_of_half);
  // The exponent is counted from that of the lowest fraction: 2^digits and it as a number, less both.
  const Bits beyond = bits_of(x) - bits_of(lowest);
  const Bits exponent = (beyond + (format.bias << format.digits)) >> format.digits;
  const double unit = x.single() ? 0x1p23 : 0x1p52;
  const Number power = number_of(exponent | bits_of(x.of(unit))) - (unit + static_cast<double>(format.bias));
  const Number scaled = number_of((beyond & ((std::int64_t{1} << format.digits) - 1)) + bits_of(lowest));
  return {power, scaled - 1};
}

Number logarithm_beyond_linear(Number f) {
  if (f.single()) return f * f * fused(f, polynomial(f, log_single), -0.5);
  // With s = f / (2 + f) it is log((1 + s) / (1 - s)) = 2 s + s z q(z), and 2 s = f - s f.
  const Number s = f / (2.0 + f);
  const Number z = s * s;
  const Number half_square = 0.5 * f * f;
  return fused(s, fused(z, polynomial(z, log_double), half_square), -half_square);
}

Number logarithm(Number x) {
  const bool single = x.single();
  const Decomposed parts = decomposed_of_any(x);
  const Number small =
      fused(parts.power, single ? ln2_rest_single : ln2_rest_double, logarithm_beyond_linear(parts.fraction));
  const Number result =
      fused(parts.power, single ? ln2_first_single : ln2_first_double, parts.fraction + small);
  return with_special_values(x, result);
}

Number logarithm_of_two(Number x) {
  const Decomposed parts = decomposed_of_any(x);
  const Number zero = x.of(0);
  return with_special_values(
      x, x.single() ? of_base(parts, parts.power, zero, log2_e_first_single, log2_e_rest_single)
                    : of_base(parts, parts.power, zero, log2_e_first_double, log2_e_rest_double));
}

Number logarithm_of_ten(Number x) {
  const Decomposed parts = decomposed_of_any(x);
  const Number k = parts.power;
  return with_special_values(x, x.single() ? of_base(parts, k * log10_2_first_single, k * log10_2_rest_single,
                                                     log10_e_first_single, log10_e_rest_single)
                                           : of_base(parts, k * log10_2_first_double, k * log10_2_rest_double,
                                                     log10_e_first_double, log10_e_rest_double));
}

Number logarithm_of_one_more(Number x) {
  const bool single = x.single();
  const Number sum = 1.0 + x;
  // What the sum lost, whichever of the two is larger.
  const Number added = sum - 1;
  const Number lost = (x - added) + (1.0 - (sum - added));
  const Decomposed parts = decomposed(sum);
  const Flag near = parts.power == 0;
  const Number f = select(near, x, parts.fraction);
  const Number correction = select(near, 0, lost / sum);
  const Number k = parts.power;
  const Number small =
      fused(k, single ? ln2_rest_single : ln2_rest_double, logarithm_beyond_linear(f) + correction);
  const Number result = fused(k, single ? ln2_first_single : ln2_first_double, f + small);
  return select(magnitude(x) < format_of(x).linear, x, with_special_values(sum, result));
}

// The three below compute in float64: there the sums and differences keep all that float32 can show, but for
// arguments so small that the function is the argument.
namespace {

constexpr double linear_for_float32 = 0x1p-20;

}  // namespace

Number area_hyperbolic_sine(Number x) {
  const Number wide = widened(magnitude(x));
  const Number result = narrowed(logarithm(wide + root(fused(wide, wide, 1))));
  return select(magnitude(x) < linear_for_float32, x, with_sign_of(result, x));
}

Number area_hyperbolic_cosine(Number x) {
  const Number wide = widened(x);
  const Number result = narrowed(logarithm(wide + root((wide - 1) * (wide + 1))));
  return select(x < 1, not_a_number, result);
}

Number area_hyperbolic_tangent(Number x) {
  const Number wide = widened(x);
  const Number result = narrowed(0.5 * logarithm((1.0 + wide) / (1.0 - wide)));
  return select(magnitude(x) < linear_for_float32, x, result);
}

}  // namespace relish::jit

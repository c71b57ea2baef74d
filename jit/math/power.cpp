// x^y = 2^(y log2|x|) in float64 for float32, with the sign and the exceptions of C's pow.
#include "jit/math/power.h"

#include "jit/math/coefficients.h"
#include "jit/math/exponential.h"
#include "jit/math/format.h"
#include "jit/math/logarithm.h"

namespace relish::jit {
namespace {

Flag is_integer(Number y) { return truncated(y) == y; }
Flag has_sign(Number x) { return with_sign_of(x.of(1), x) < 0; }

}  // namespace

Number power(Number base, Number exponent) {
  const Number size = widened(magnitude(base));
  const Decomposed parts = decomposed(size);
  const Number natural = parts.fraction + logarithm_beyond_linear(parts.fraction);
  const Number finite = fused(natural, log2_of_e, parts.power);
  const Number of_two = select(size == 0, -infinity, select(size < infinity, finite, size));  // NaN stays NaN
  // 1 to any power is 1, also to the infinite one.
  const Number product = select((size == 1) & !is_nan(exponent), 0, widened(exponent) * of_two);
  const Number bounded = at_least(at_most(product, 200), -200);
  const double shift = float64_format.one_and_half_beyond_integers;
  const Number shifted = bounded + shift;
  const Number r = bounded - (shifted - shift);
  const Number wide =
      fused(r, polynomial(r, exp2_short), 1) * power_of_two(bits_of(shifted) - bits_of(shifted.of(shift)));
  const Number positive = narrowed(wide);
  const Flag integer = is_integer(exponent);
  const Flag odd = integer & !is_integer(exponent * 0.5);
  const Number result = select(odd & has_sign(base), -positive, positive);
  const Flag undefined = (base < 0) & (base > -infinity) & !integer;
  const Number defined = select(undefined, not_a_number, result);
  return select((base == 1) | (exponent == 0), 1, defined);
}

Number hypotenuse(Number x, Number y) {
  const Flag infinite = (magnitude(x) == infinity) | (magnitude(y) == infinity);
  Number length = x;
  if (x.single()) {
    const Number a = widened(x), b = widened(y);
    length = narrowed(root(fused(a, a, b * b)));
  } else {
    // Scaled away from where squares are too large or too small.
    const Number a = magnitude(x), b = magnitude(y);
    const Number larger = select(a < b, b, a);
    const Number scale = select(larger > 0x1p500, 0x1p-600, select(larger < 0x1p-500, 0x1p600, x.of(1)));
    const Number back = select(larger > 0x1p500, 0x1p600, select(larger < 0x1p-500, 0x1p-600, x.of(1)));
    const Number p = a * scale, q = b * scale;
    length = root(fused(p, p, q * q)) * back;
  }
  return select(infinite, infinity, length);
}

}  // namespace relish::jit

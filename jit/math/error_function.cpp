// The error function: near 0 an odd polynomial; farther out 1 - e^q(|x|), of which few digits count.
#include "jit/math/error_function.h"

#include "jit/math/coefficients.h"
#include "jit/math/exponential.h"

namespace relish::jit {

Number error_function(Number x) {
  const bool single = x.single();
  const Number size = magnitude(x);
  const Number square = x * x;
  const Number q = single ? polynomial(square, erf_small_single) : polynomial(square, erf_small_double);
  const Number near = fused(x, q, x);
  // From the upper bound on it is 1.
  const Number bounded = at_least(at_most(size, single ? 4 : 6), 1);
  const Number logarithm =
      single ? polynomial(bounded, erf_large_single) : polynomial((bounded - 1) * 0.2, erf_large_double);
  const Exponential parts = exponential_parts(logarithm);
  const Number power = power_of_two(parts.n);
  const Number far = 1.0 - fused(power, parts.rest, power);
  return select(size < 1, near, with_sign_of(far, x));
}

}  // namespace relish::jit

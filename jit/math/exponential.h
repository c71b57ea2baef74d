// e^x and what is made of it. The pieces serve other families.
#pragma once

#include "jit/math/lane.h"

namespace relish::jit {

// 2^n, and base^x / 2^n - 1, which is `rest`, or more exactly `rest + low`.
struct Exponential {
  Bits n;
  Number rest;
  Number low;
};
// Of e^x, for |x| < 2^10; n and rest are meaningless of NaN, but rest is NaN.
Exponential exponential_parts(Number x);
// 2^n for n of the exponents of normal numbers.
Number power_of_two(Bits n);
// y * 2^n for 1/2 <= y <= 2, also where the result is subnormal, 0 or infinite; NaN stays NaN.
Number scaled(Number y, Bits n);

Number exponential(Number x);
Number exponential_of_two(Number x);
Number exponential_of_ten(Number x);
Number exponential_less_one(Number x);
Number sigmoid(Number x);
Number hyperbolic_sine(Number x);
Number hyperbolic_cosine(Number x);
Number hyperbolic_tangent(Number x);

}  // namespace relish::jit

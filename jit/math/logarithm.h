// Logarithms and what is made of them. The pieces serve other families.
#pragma once

#include "jit/math/lane.h"

namespace relish::jit {

// x = 2^power * (1 + fraction) with sqrt(1/2) <= 1 + fraction < sqrt(2), exactly.
struct Decomposed {
  Number power;
  Number fraction;
};
Decomposed decomposed(Number x);  // a positive, finite x that is not subnormal
// log(1 + f) - f for sqrt(1/2) <= 1 + f <= sqrt(2).
Number logarithm_beyond_linear(Number f);

Number logarithm(Number x);
Number logarithm_of_two(Number x);
Number logarithm_of_ten(Number x);
Number logarithm_of_one_more(Number x);
Number area_hyperbolic_sine(Number x);     // float32
Number area_hyperbolic_cosine(Number x);   // float32
Number area_hyperbolic_tangent(Number x);  // float32

}  // namespace relish::jit

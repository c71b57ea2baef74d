// Powers of two operands, and the length of a pair.
#pragma once

#include "jit/math/lane.h"

namespace relish::jit {

Number power(Number base, Number exponent);  // float32
Number hypotenuse(Number x, Number y);

}  // namespace relish::jit

// Sines and their inverses, of float32.
#pragma once

#include "jit/math/lane.h"

namespace relish::jit {

Number sine(Number x);
Number cosine(Number x);
Number tangent(Number x);
Number arc_sine(Number x);
Number arc_cosine(Number x);
Number arc_tangent(Number x);
Number arc_tangent_of_two(Number y, Number x);

}  // namespace relish::jit

// Tensors of uniform random numbers for rand() and `--arg x=rand(seed=…)`: element i depends on (seed, i)
// only.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace relish {

// Uniform in [0, 1). float64 takes words 2i and 2i+1 of the key's stream (53 bits), the other floats word i
// (24 bits, rounded to the dtype). TypeError for dtypes that are not floating.
Tensor random_tensor(DType dtype, Shape shape, std::uint64_t seed, Span span);

}  // namespace relish

// Tensors of random numbers for rand(), randn() and `--arg x=rand(seed=…)`: element i depends on the key and
// i only.
#pragma once

#include <cstdint>

#include "runtime/random_elements.h"

namespace relish {

// Drawn wide and rounded to the dtype. TypeError for dtypes that are not floating, in the name of `what`.
Tensor random_tensor(DType dtype, Shape shape, RandomKey key, Distribution distribution, Span span,
                     std::string_view what = "rand");

// The key of draw `count` of a session: of rand() and randn() without a seed.
RandomKey key_of_draw(std::uint64_t seed, std::uint64_t count);

}  // namespace relish

// Elements drawn at random: element i depends on the key and i only.
#pragma once

#include <cstdint>

#include "runtime/philox.h"
#include "runtime/tensor.h"

namespace relish {

enum class Distribution : std::uint8_t {
  Uniform,  // in [0, 1). float64 takes words 2i and 2i+1 of the key's stream (53 bits), the others word i
  Normal,   // of mean 0 and deviation 1; words 2i and 2i+1, as R.random.normal
};

// All elements of a floating tensor, drawn wide and rounded to its dtype.
void draw_elements(Tensor& tensor, RandomKey key, Distribution distribution, Span span);

}  // namespace relish

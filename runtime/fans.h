// How many values a weight connects.
#pragma once

#include <cstdint>
#include <span>

namespace relish {

// Numbers of inputs and outputs that a weight connects. Rank 2 is (inputs, outputs) as in x @ w; higher ranks
// are convolution weights (outputs, inputs, window...).
struct Fans {
  std::int64_t in = 1;
  std::int64_t out = 1;
};
Fans fans_of(std::span<const std::int64_t> shape);

}  // namespace relish

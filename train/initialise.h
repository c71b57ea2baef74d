// Initial values of parameters. They depend on (seed, position of the parameter) only, so the same job starts
// from the same bytes on every machine and with any number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/tensor.h"

namespace relish {

// Numbers of inputs and outputs that a weight connects. Rank 2 is (inputs, outputs) as in x @ w; higher ranks
// are convolution weights (outputs, inputs, window...).
struct Fans {
  std::int64_t in = 1;
  std::int64_t out = 1;
};
Fans fans_of(std::span<const std::int64_t> shape);

// Glorot uniform, U(-a, a) with a = sqrt(6 / (fan in + fan out)), for rank 2 and more; zeros for ranks 0
// and 1. `position` is the index of the parameter among the trained ones; `dtype` is a float.
Tensor initial_parameter(DType dtype, const Shape& shape, std::uint64_t seed, std::uint64_t position);

}  // namespace relish

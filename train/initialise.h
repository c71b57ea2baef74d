// Initial values of parameters. They depend on (seed, position of the parameter) only, so the same job starts
// from the same bytes on every machine and with any number of threads.
#pragma once

#include <cstdint>

#include "runtime/fans.h"
#include "runtime/philox.h"
#include "runtime/tensor.h"

namespace relish {

// Glorot uniform, U(-a, a) with a = sqrt(6 / (fan in + fan out)), for rank 2 and more; zeros for ranks 0
// and 1. `position` is the index of the parameter among the trained ones; `dtype` is a float.
Tensor initial_parameter(DType dtype, const Shape& shape, std::uint64_t seed, std::uint64_t position);

// The key from which those of the parameters are folded, apart from those of epochs and steps.
RandomKey parameters_key(std::uint64_t seed);

}  // namespace relish

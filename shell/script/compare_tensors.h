// Comparison of tensors by a tolerance, for allclose and `--expect`.
#pragma once

#include <optional>
#include <string>

#include "runtime/tensor.h"

namespace relish {

struct Closeness {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};

struct ElementDifference {
  std::int64_t index;  // flat
  std::string found, expected;
  double error;  // abs(found - expected)
};

// The first element with abs(a - b) > atol + rtol * abs(b). Shapes are equal, or one of them has rank 0.
// Integers are compared exactly when both tolerances are 0 and by their difference otherwise.
std::optional<ElementDifference> first_difference(const Tensor& a, const Tensor& b,
                                                  const Closeness& closeness);
// "[1, 0, 3]": the index of a flat position.
std::string index_text(const Shape& shape, std::int64_t flat);

}  // namespace relish

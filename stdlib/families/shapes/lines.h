// Lines of a tensor: the elements along one axis at fixed places on all others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/tensor.h"
#include "stdlib/families/language/pace.h"

namespace relish {

struct Line {
  std::int64_t start, length, stride;
  std::int64_t at(std::int64_t i) const { return start + i * stride; }
};

// Calls visit(line) for every line of a row-major tensor of shape `shape` along `axis`.
template <class Visit>
void for_each_line(const Shape& shape, int axis, Visit&& visit) {
  const std::int64_t size = element_count(shape);
  if (size == 0) return;
  const auto dim = static_cast<std::size_t>(axis);
  const std::int64_t length = shape[dim], stride = row_major_strides(shape)[dim];
  Pace pace;
  for (std::int64_t outer = 0; outer < size; outer += length * stride) {
    for (std::int64_t inner = 0; inner < stride; ++inner) {
      visit(Line{outer + inner, length, stride});
      pace(length);
    }
  }
}

}  // namespace relish

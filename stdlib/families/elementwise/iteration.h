// Walking several tensors of different strides together, row by row: the one loop structure of the reference
// evaluations. A stride of 0 repeats an element along a broadcast dimension or keeps an accumulator along a
// reduced one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/tensor.h"
#include "stdlib/families/language/pace.h"

namespace relish {

// Strides that read a compact tensor of shape `from` as if it had the shape `to` (right-aligned, stretched
// dims get 0).
Shape broadcast_strides(const Shape& from, const Shape& to);

// Calls row(offsets, strides, count) for the lines along the last dimension of `shape`, a very long one in
// parts: operand k has its elements at offsets[k] + i * strides[k] for 0 <= i < count. Rows come in row-major
// order; rank 0 is one row of one element. A signal ends it between rows.
template <std::size_t Operands, class Row>
void for_each_row(const Shape& shape, const std::array<Shape, Operands>& strides, Row&& row) {
  using Offsets = std::array<std::int64_t, Operands>;
  for (std::int64_t extent : shape) {
    if (extent == 0) return;
  }
  Offsets offsets{}, last{};
  if (shape.empty()) {
    row(offsets, last, std::int64_t{1});
    return;
  }
  const std::size_t inner = shape.size() - 1;
  for (std::size_t k = 0; k < Operands; ++k) last[k] = strides[k][inner];
  Shape index(inner, 0);
  Pace pace;
  while (true) {
    const Offsets first = offsets;
    for (std::int64_t done = 0; done < shape[inner]; done += Pace::between_polls) {
      const std::int64_t count = std::min(shape[inner] - done, Pace::between_polls);
      for (std::size_t k = 0; k < Operands; ++k) offsets[k] = first[k] + done * last[k];
      row(offsets, last, count);
      pace(count);
    }
    offsets = first;
    std::size_t dim = inner;
    while (dim > 0) {
      --dim;
      for (std::size_t k = 0; k < Operands; ++k) offsets[k] += strides[k][dim];
      if (++index[dim] < shape[dim]) break;
      for (std::size_t k = 0; k < Operands; ++k) offsets[k] -= strides[k][dim] * shape[dim];
      index[dim] = 0;
      if (dim == 0) return;
    }
    if (inner == 0) return;
  }
}

}  // namespace relish

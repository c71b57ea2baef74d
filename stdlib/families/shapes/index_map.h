// Index maps: "lambda n, c, h: (n, c // 4, h, c % 4)", how layout_transform gives each element a new place.
// Names, integers, + - * // %, brackets; one result or a tuple of them.
#pragma once

#include <string_view>

#include "stdlib/families/shapes/shapes.h"

namespace relish {

class IndexMap {
 public:
  // The attribute `name` of a call; rejects by "index_map" what is no such text, or takes not `rank` indices
  // (-1: any number).
  IndexMap(const CallView& call, std::string_view name, int rank);

  int rank() const { return static_cast<int>(vars_.size()); }
  int result_rank() const { return static_cast<int>(results_.size()); }
  // The new place of the element at `index`.
  Dims operator()(const Dims& index) const;
  // The smallest shape that holds the places of all elements of `shape`, dimension by dimension. Rejects by
  // "index_map" when an index could be negative.
  Dims shape(const CallView& call, const Dims& shape) const;

 private:
  std::vector<ScalarVar> vars_;
  std::vector<Scalar> results_;
};

}  // namespace relish

// Windows in a factor of a contraction: columns and terms that meet in one index of it, as the places of an
// image and of a filter do. Neighbouring columns then see mostly the same elements.
#pragma once

#include <cstdint>
#include <vector>

#include "loops/nest.h"

namespace relish {

// The column, and the term that is added to it: the factor depends on the two by column + spacing * term
// alone.
struct WindowAxis {
  const Axis* column = nullptr;
  const Axis* term = nullptr;  // null: the column goes alone
  std::int64_t spacing = 0, terms = 1;

  // How many places so many columns see.
  std::int64_t places(std::int64_t columns) const {
    return columns + (spacing < 0 ? -spacing : spacing) * (terms - 1);
  }
  // The place of column 0 and term 0, of places counted from the first that is seen.
  std::int64_t first() const { return spacing < 0 ? -spacing * (terms - 1) : 0; }
};

// The last of the columns, from the first one that a term is added to. None when no column has a term, or the
// factor uses one of them, or its term, in some other way.
std::vector<WindowAxis> windows_of(const Nest& nest, const Scalar& factor,
                                   const std::vector<const Axis*>& columns,
                                   const std::vector<const Axis*>& summed, RangeProver& prover);

}  // namespace relish

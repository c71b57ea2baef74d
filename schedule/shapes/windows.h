// Windows in a factor of a contraction: columns (or rows) and terms that meet in one index of it, as the
// places of an image and of a filter do. Neighbours then see mostly the same elements.
#pragma once

#include <cstdint>
#include <vector>

#include "loops/nest.h"

namespace relish {

// The column, and the term that is added to it: the factor depends on the two by step * column +
// spacing * term alone. A spacing beside steps is 1.
struct WindowAxis {
  const Axis* column = nullptr;
  const Axis* term = nullptr;  // null: the column goes alone
  std::int64_t spacing = 0, terms = 1, step = 1;

  // How many places so many columns see.
  std::int64_t places(std::int64_t columns) const {
    return step * (columns - 1) + 1 + (spacing < 0 ? -spacing : spacing) * (terms - 1);
  }
  // The place of column 0 and term 0, of places counted from the first that is seen.
  std::int64_t first() const { return spacing < 0 ? -spacing * (terms - 1) : 0; }
};

// The last of the columns, from the first one that a term is added to. None when no column has a term, or the
// factor uses one of them, or its term, in some other way.
std::vector<WindowAxis> windows_of(const Nest& nest, const Scalar& factor,
                                   const std::vector<const Axis*>& columns,
                                   const std::vector<const Axis*>& summed, RangeProver& prover);

// A row and a term of which the left factor sees row_step * row + term_step * term alone. One of the steps is
// 1, or the term's -1.
struct Meeting {
  const Axis* row = nullptr;
  const Axis* term = nullptr;
  std::int64_t row_step = 1, term_step = 1;

  std::int64_t reach() const { return term_step < 0 ? -term_step : term_step; }
  // How many places so many rows and terms see.
  std::int64_t places(std::int64_t rows, std::int64_t terms) const {
    return row_step * (rows - 1) + reach() * (terms - 1) + 1;
  }
  // The place of row 0 and term 0, of places counted from the first that is seen.
  std::int64_t first(std::int64_t terms) const { return term_step < 0 ? reach() * (terms - 1) : 0; }
};

// All rows and terms that meet. None when the factor uses one of them in some other way.
std::vector<Meeting> meetings_of(const Nest& nest, const Scalar& factor, const std::vector<const Axis*>& rows,
                                 const std::vector<const Axis*>& summed, RangeProver& prover);

}  // namespace relish

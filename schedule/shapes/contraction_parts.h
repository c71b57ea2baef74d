// A contraction whose axes are known by their parts: which belong to which factor, and which are summed.
#pragma once

#include <vector>

#include "loops/nest.h"
#include "schedule/shapes/windows.h"

namespace relish {

// Sums of `left` * `right` over the axes `summed`. `left` uses the rows and the summed axes, `right` the
// columns and the summed ones, both may use the axes `around`. The last columns are the last axes of the
// result, in its order.
struct Contraction {
  const Nest* nest;
  const Store* init;  // null: joined to what the result holds
  Scalar left, right;
  std::vector<const Axis*> around, rows, columns, summed;  // literal extents are above 0
  // Where it does not hold the factor that it guards is 0 and the product counts nothing, also that of an
  // infinity. Undefined: it holds.
  Scalar guard;
  Scalar product;  // as it was written
  bool guards_left;
  bool by_vectors;                  // what is put behind the stores of the result
  std::vector<WindowAxis> windows;  // of `right`, in the last of the columns
  std::vector<Meeting> meetings;    // of `left`
  // The last of the columns are the items of a batch, which the result has first.
  bool items_last = false;
  bool reads_elements = false;  // what is put behind the stores reads elements of its own
  std::size_t last = 0;         // the dimension of the result along which it is stored
  bool ends_here = false;       // nothing is put behind the stores: the result may hold sums of some terms

  bool begins_with_zero() const {
    const auto* first = init ? init->value.as<FloatLiteral>() : nullptr;
    return first && first->value == 0;
  }
};

}  // namespace relish

// Panels of a factor whose terms lie side by side in memory, where a tile wants its elements so: the copy
// goes through squares of registers, whose rows become columns.
#pragma once

#include "schedule/blocks/panels.h"
#include "schedule/blocks/scope.h"
#include "schedule/blocks/text.h"

namespace relish {

// A part of the terms of one block.
struct TurnedPart {
  const Panel& panel;
  const Scalar& factor;
  const Blocked& elements;   // those of the panel, of known size
  Scalar round, part;        // of the elements, and of the terms in the panel; undefined: the only ones
  const BlockPlaces& terms;  // those of the part, the last loop along memory
  std::int64_t lanes;        // of a vector
  const ScalarMap& values;   // of all axes but that of the elements
};

// Whether whole vectors of terms and of elements make squares: the elements of one axis.
bool turns_in_squares(const TurnedPart& turned);
// The copy, of which the elements behind the last one are copies of that.
Stmt turned_copy(const TurnedPart& turned, const BlockText& text);

}  // namespace relish

// Panels of a factor whose terms lie side by side in memory, where a tile wants its elements so: the copy
// goes through squares of registers, whose rows become columns.
#pragma once

#include "schedule/block_text.h"
#include "schedule/contraction_panels.h"

namespace relish {

// A part of the terms of one block.
struct TurnedPart {
  const Panel& panel;
  const Scalar& factor;
  const Blocked& elements;  // those of the panel, of known size
  const Blocked& summed;
  Scalar round, part;       // of both; undefined: the only ones
  std::int64_t lanes;       // of a vector
  const ScalarMap& values;  // of all other axes
};

// Whether whole vectors of terms and of elements make squares: of one axis each.
bool turns_in_squares(const TurnedPart& turned);
// The copy, of which the elements behind the last one are copies of that.
Stmt turned_copy(const TurnedPart& turned, const BlockText& text);

}  // namespace relish

// The text that fills a panel of windows.
#pragma once

#include "schedule/blocks/guarded_places.h"
#include "schedule/blocks/panels.h"

namespace relish {

// The value without zeros that are added to indices, and multiples of them.
Scalar without_zeros(const Scalar& value);

// Zeros in all of a panel.
Stmt cleared_panel(const BlockText& text, const Buffer& panel);

// Copies `read` at all places, by window, in loops over `outside` first; what padding holds is not written.
// `terms`: the variables of the part's axes. `item_lanes`: of a vector, where the last
// place is the first index of what is read; else 0.
Stmt copied_places(const BlockText& text, const WindowPanel& panel, std::vector<BlockLoop> outside,
                   const std::vector<Scalar>& terms, const std::vector<PlaceBounds>& all, const Scalar& read,
                   std::int64_t item_lanes);

// The same into a panel that has an index for each place, in their order. Padding whose places change from
// part to part is written, as zeros.
Stmt copied_meeting_places(const BlockText& text, const Buffer& panel, const std::vector<PlaceBounds>& all,
                           const Scalar& read);

// turned[row, item, place] = sums[row, place * items + item]
Stmt turned_items(const BlockText& text, const Buffer& turned, const Buffer& sums);

}  // namespace relish

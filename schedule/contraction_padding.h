// Terms that count nothing for all of a tile, because its place in an image is at the border and they lie in
// the padding: they are left out of its loops.
#pragma once

#include <optional>

#include "schedule/block_text.h"

namespace relish {

// The terms from `begin` on, so many.
struct SeenTerms {
  Scalar begin, extent;
};

// Which values of `term` count where `along` is at `place`, when the guard decides that from these two axes and
// leaves some out; they follow each other, and there is one at every place. None otherwise.
std::optional<SeenTerms> seen_terms(const BlockText& text, const Scalar& guard, const Axis& along,
                                    const Scalar& place, const Axis& term);

// The part of the terms that count, over all places of `along`; 1 where none can be left out.
double seen_share(const Scalar& guard, const Axis& along, const Axis& term);

}  // namespace relish

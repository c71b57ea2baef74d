// Terms that count nothing for all of a tile, because its place in an image is at the border and they lie in
// the padding: they are left out of its loops.
#pragma once

#include <optional>

#include "schedule/blocks/text.h"

namespace relish {

// The terms from `begin` on, so many.
struct SeenTerms {
  Scalar begin, extent;
};

// Which values of `term` count where `along` is at `place`, when padded_terms() knows of some that do not.
std::optional<SeenTerms> seen_terms(const BlockText& text, const Scalar& guard, const Axis& along,
                                    const Scalar& place, const Axis& term);

}  // namespace relish

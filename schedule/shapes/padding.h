// Padding in guards: which terms count at a place of another axis, as the taps of a filter do at the border
// of an image.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loops/nest.h"
#include "schedule/shapes/shapes.h"

namespace relish {

// a * along + b * term + c >= 0; b is not 0.
struct TermBound {
  std::int64_t a, b, c;
  bool holds(std::int64_t along, std::int64_t term) const { return a * along + b * term + c >= 0; }
};

struct PaddedTerms {
  std::vector<TermBound> bounds;   // all hold exactly where a term counts
  std::int64_t seen = 0, all = 0;  // terms that count, and all of them, at all places together
};

// What the guard decides from these two axes alone, when that leaves some terms out; those that count follow
// each other, and there is one at every place. None otherwise.
std::optional<PaddedTerms> padded_terms(const Scalar& guard, const Axis& along, const Axis& term);

// The part of the terms that count, over all places of `along`; 1 where none can be left out.
double seen_share(const Scalar& guard, const Axis& along, const Axis& term);

}  // namespace relish

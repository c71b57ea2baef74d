// Copies of windows with their padding: what the guard asks of one place alone becomes the bounds of its
// loop.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/nodes/stmt.h"

namespace relish {

// The places from `begin` on, so many, of a loop.
struct PlaceBounds {
  ScalarVar var;
  std::int64_t begin = 0, extent = 0;
};

struct GuardedPlaces {
  std::vector<PlaceBounds> bounds;  // by place
  // What is left of the guard, by the last place that is in it (the first one, when none is); undefined:
  // nothing.
  std::vector<Scalar> guards;
  Scalar value;  // where all of it holds
};

// What is read at places of which `bounds` has all: zero where a guard does not hold. None when nothing is
// left to read.
std::optional<GuardedPlaces> guarded_places(const Scalar& read, const std::vector<PlaceBounds>& all);

}  // namespace relish

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
  Scalar guard;  // what is left of it, which no place but the first is in; undefined: nothing
  Scalar value;  // where all of it holds
};

// What is read at places of which `bounds` has all: zero where a guard does not hold. None when the guard
// asks something else, or nothing is left to read.
std::optional<GuardedPlaces> guarded_places(const Scalar& read, const std::vector<PlaceBounds>& all);

}  // namespace relish

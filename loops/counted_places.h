// Places of an access in single iterations, where its indices are no polynomials: remainders, quotients and
// what else only numbers tell.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/nodes/scalar.h"

namespace relish {

// By iteration, the first at most 256: the indices, when they are functions of the loop variable alone, whose
// begin, step and extent are literals. Nothing else is counted.
using CountedPlaces = std::vector<std::vector<std::int64_t>>;
struct CountedLoop {
  ScalarVar var;
  std::int64_t begin = 0, step = 1, iterations = 0;
};
std::optional<CountedPlaces> counted_places(const std::vector<Scalar>& indices, const CountedLoop& loop);

// Two iterations, apart from each other, that have a place in common.
struct Meeting {
  std::int64_t first = 0, second = 0;
};
std::optional<Meeting> meeting(const CountedPlaces& a, const CountedPlaces& b);

}  // namespace relish

// Conditions on whole numbers, looked at one place after the other: what a guard of windows asks of an axis.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/nodes/scalar.h"

namespace relish {

// The parts of a guard that must all hold.
std::vector<Scalar> conditions_of(const Scalar& guard);

// What variables are.
using Places = std::vector<std::pair<ScalarVar, std::int64_t>>;

// The number that a sum, difference or product of numbers and these variables is; none when it is something
// else.
std::optional<std::int64_t> number_at(const Scalar& value, const Places& places);
// Whether a comparison of such numbers holds.
std::optional<bool> holds_at(const Scalar& condition, const Places& places);

}  // namespace relish

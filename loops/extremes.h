// Maxima and minima that are written with selects.
#pragma once

#include <optional>

#include "ir/nodes/scalar.h"

namespace relish {

// IEEE 754-2019 maximum or minimum of two floats: NaN propagates, +0 > -0.
struct Extreme {
  bool largest = false;
  Scalar a, b;
};
// The selects of maximum_ieee and minimum_ieee, exactly; nothing for all others.
std::optional<Extreme> as_extreme(const Select& node);

}  // namespace relish

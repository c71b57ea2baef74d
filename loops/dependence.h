// Whether the iterations of a loop depend on each other: what makes a parallel or vectorized loop a fault of
// its text. Only what is shown for sure is told; a loop of which nothing can be shown passes.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/nodes/stmt.h"

namespace relish {

// What two iterations of the loop do to each other, as a clause ("each stores to B[0]"); none where nothing
// is shown. `views`: those around the loop, so that one element is known under both names.
std::optional<std::string> iteration_dependence(const For& loop, std::span<const BufferView> views = {});

}  // namespace relish

// Rows that are read again and again, as `tile` has them.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// The nest with its innermost loop, in which elements are read at the remainder of its variable, as a loop
// over the repetitions around one over that many elements, which then lie side by side. None where they do so
// already or would not, or where the repetitions are short.
std::optional<Stmt> part_repeats(const Stmt& nest, RangeProver& prover);

}  // namespace relish

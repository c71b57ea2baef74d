// Nests whose block updates several buffers, such as the sum and the sum of squares of rows.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// The nest as one nest for each buffer, where no update reads what another one writes and nothing of them can
// fail. The rules that follow know nests around one store; the terms are read once more for each, by vectors.
std::optional<Stmt> part_updates(const Stmt& stmt, RangeProver& prover);

}  // namespace relish

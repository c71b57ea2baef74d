// Recurrences along a loop, as sums so far and filters: each element is computed from the one before it.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// A loop around one store whose value reads, of the buffer that it stores to, only the element that the
// iteration before has stored: that one is handed on in a variable. Read back from memory it takes three
// times as long until it is there. Each element is computed and stored as before.
std::optional<Stmt> with_carried_element(const Stmt& loop, RangeProver& prover);

}  // namespace relish

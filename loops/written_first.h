// Which buffers a body writes whole before it reads them, so that they need not be cleared.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// The ids of those buffers of which every element is written by the first statements of `body` that touch
// them.
std::unordered_set<std::uint64_t> written_first(const Stmt& body, const std::vector<Buffer>& buffers,
                                                RangeProver& prover);

}  // namespace relish

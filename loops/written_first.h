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

// The same of buffers that nothing outside of `body` sees: also those of which every element that is read
// behind those statements is written by them.
std::unordered_set<std::uint64_t> written_before_reads(const Stmt& body, const std::vector<Buffer>& buffers,
                                                       RangeProver& prover);

// By parameter: whether the function writes every element of it before it reads any. Integers that can wrap
// around are counted as they are: of a function as somebody wrote it, with_explicit_wraps is asked about.
std::vector<bool> parameters_written_first(const PrimFunc& function);

}  // namespace relish

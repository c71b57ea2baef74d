// The rule for movement: nests that store each element once and read along another axis than they store.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"
#include "schedule/target.h"

namespace relish {

// The nest in square tiles, so that each line of memory that a tile reads or writes is used whole: transposes
// and all that indexes as they do. A copy goes through a local buffer, in which rows become columns in
// registers. Else, when the innermost loop does not run along what is stored, the nest with the one innermost
// that does. None when the nest is fine as it is.
//
// Every element is computed as the text says, so results keep their bits.
std::optional<Stmt> move_in_tiles(const Stmt& nest, RangeProver& prover, const Target& target);

}  // namespace relish

// Nests whose block keeps the better of two elements together with its place, as a maximum with its index.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"
#include "schedule/target.h"

namespace relish {

// The nest with its choices made a vector at a time. Where the searched elements lie side by side, each lane
// chooses among its own, and then the lanes do; where those of another loop do, that loop becomes the
// innermost one. None where the block does anything else.
//
// Every element gets the bits that one choice after the other gives it: between equal elements the index
// decides as the text does, and where the order could show otherwise, by a NaN or by the sign of a zero, the
// choices of that element are made again as they are written.
std::optional<Stmt> choose_in_lanes(const Stmt& nest, RangeProver& prover, const Target& target);

}  // namespace relish

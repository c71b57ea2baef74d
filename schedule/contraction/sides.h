// Which factor of a contraction gives the rows of tiles and which the columns, where both could.
#pragma once

#include "schedule/shapes/contraction_parts.h"
#include "schedule/target.h"

namespace relish {

// Whether the sums take less time by the second one, which is the first with rows and columns exchanged. Told
// by extents and the target alone.
bool takes_less_exchanged(const Contraction& contraction, const Contraction& exchanged, const Target& target);

}  // namespace relish

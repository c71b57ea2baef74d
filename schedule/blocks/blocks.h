// The loops of a contraction, when its axes are known by their parts.
#pragma once

#include "schedule/shapes/contraction_parts.h"
#include "schedule/target.h"

namespace relish {

Stmt blocks_of(const Contraction& contraction, const Target& target);

}  // namespace relish

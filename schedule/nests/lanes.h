// What the lanes of a vector can compute side by side.
#pragma once

#include "loops/nest.h"

namespace relish {

// Whether lanes, one for each iteration of the axis, can compute the value: what does not move along, loads
// side by side, plain arithmetic of that dtype.
bool computed_by_lanes(const Scalar& value, const Axis& axis, DType dtype, RangeProver& prover);

}  // namespace relish

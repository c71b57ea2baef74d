// Products that a guard leaves out, where the factor without the guard is not finite.
#pragma once

#include "schedule/blocks/scope.h"

namespace relish {

// A product of the 0 that stands where the guard does not hold is 0, but for infinities and what is no
// number. These show in the block's sums: where the factor without a guard has some, the products are
// summed as they were written. A factor that is smaller than the sums is looked at at once.
// `cleared`: what sets the block's sums to 0.
Stmt mended(ContractionScope& scope, const Buffer& sums, const Stmt& cleared);

}  // namespace relish

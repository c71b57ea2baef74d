// Sums of products that are summed once more, as the gradient of a weight is over the items of a batch,
// become one sum over all axes: the products of the items are not stored.
#pragma once

#include "schedule/stages/stages.h"

namespace relish {

// Where a temporary holds sums of products of float32 or float64 and one other stage alone reads it, to sum
// its elements. The terms keep their order; in which parts they are added is what sums leave open.
void join_sums(std::vector<Stage>& stages, const BufferIds& temporaries);

}  // namespace relish

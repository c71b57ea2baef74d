// Copies that another stage can do as it stores: the places of what a stage copies become the places at which
// the one before stores it.
#pragma once

#include <vector>

#include "schedule/stages/stages.h"

namespace relish {

// Of stages that copy a temporary which an earlier stage stores: a reshape that joins dimensions runs over
// the dimensions that it joins, and a copy behind such a one (into a part of a concatenation) over those,
// too. So what computes the elements can store them there. A copy that nothing reads any more is dropped.
void copy_in_own_places(std::vector<Stage>& stages, const BufferIds& temporaries);

}  // namespace relish

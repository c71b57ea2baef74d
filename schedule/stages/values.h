// Values instead of buffers: what one stage stores for others is computed where it is used.
#pragma once

#include <vector>

#include "schedule/stages/stages.h"

namespace relish {

// Stages that store to one of the `temporaries`, which nobody sees outside, vanish where their readers can
// compute the element themselves: each is needed once, or it costs next to nothing.
void compute_in_readers(std::vector<Stage>& stages, const BufferIds& temporaries);

}  // namespace relish

// Sums over several loops whose terms lie side by side in memory: one loop, as of the places of an image.
#pragma once

#include "ir/nodes/stmt.h"

namespace relish {

// The nest with one loop over the last of its reduce loops, as many as run on in all that is read: long loops
// along memory are summed in lanes, short ones pay for each of their ends. The same handle when there are not
// several, or the last one is long.
Stmt with_joined_terms(const Stmt& nest);

}  // namespace relish

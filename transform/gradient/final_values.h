// Whether everything that a prim_func reads is final: no element is read before its last change, and none is
// set twice. Then the order of its statements does not matter backwards, and a value can be computed again
// where it is needed.
#pragma once

#include "transform/gradient/assignments.h"

namespace relish {

// Appends what is not shown to be so to the obstacles. Gives the written buffers in an order in which each
// stands behind those that it is computed from.
std::vector<Buffer> order_of_final_values(Assignments& assignments);

}  // namespace relish

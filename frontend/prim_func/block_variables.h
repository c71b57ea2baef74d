// Which loop variables a block of a prim_func may use.
#pragma once

#include "ir/nodes/stmt.h"
#include "support/diagnostic.h"

namespace relish {

// Tells by "block.loop_variable", once for each block and variable, of loops around a block with axes of its
// own whose variables are used inside of it: there only the axes stand for them. A block without axes sees
// the loops around it.
void check_block_variables(const PrimFunc& function, Diagnostics& diagnostics);

}  // namespace relish

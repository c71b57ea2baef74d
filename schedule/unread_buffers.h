// Temporaries of a prim_func that nothing reads: what a nest holds in registers only need not go to memory
// too.
#pragma once

#include "ir/nodes/stmt.h"

namespace relish {

// The function without stores to them, where these cannot fail; the same handle when there are none.
PrimFuncPtr without_unread_buffers(const PrimFuncPtr& function);

}  // namespace relish

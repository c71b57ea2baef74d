// The order, the blocking and the parallelism of the loops of prim_funcs, from text to text: what the
// compiled tier runs.
#pragma once

#include "ir/nodes/module.h"
#include "schedule/target.h"

namespace relish {

// The same module with all prim_funcs scheduled; functions that stay as they are keep their handles. In the
// result a T.parallel loop is one whose iterations are shown to be independent, and worth several threads.
Module schedule(const Module& module, const Target& target = {});
PrimFuncPtr schedule(const PrimFuncPtr& function, const Target& target = {});

}  // namespace relish

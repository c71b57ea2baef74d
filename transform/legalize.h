// Lowering of operator calls to call_tir of prim_funcs.
#pragma once

#include "ir/module.h"

namespace relish {

// Calls whose loop nest depends on what only the run shows: kept as operator calls where the operator can be
// evaluated, or refused with a TypeError (legalize.shape, or the operator's own rule).
enum class UnknownShapes : std::uint8_t { Kept, Refused };

// Every operator call becomes a call_tir (or the operator's body inlined), but for those above. Equal
// lowerings share one prim_func.
Module legalize(const Module& module, UnknownShapes unknown = UnknownShapes::Kept);

}  // namespace relish

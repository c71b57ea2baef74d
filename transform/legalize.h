// Lowering of operator calls to call_tir of prim_funcs.
#pragma once

#include "ir/module.h"

namespace relish {

// Every operator call becomes a call_tir (or the operator's body inlined). Equal lowerings share one
// prim_func.
Module legalize(const Module& module);

}  // namespace relish

// Fusion: calls of prim_funcs whose loops can be one become calls of one prim_func, and the nests of one
// prim_func become fewer, from module to module. What is handed from one to the next is no tensor any more.
#pragma once

#include "ir/nodes/module.h"
#include "schedule/fusion/notes.h"

namespace relish {

// The same module with calls and nests fused, behind legalize and before schedule. What a call may fault by
// stays as it is, as do calls with effects, in place, or with several results of which more than one is
// taken, unless these are copies. Every element of a result has the bits that it had, but for those that are
// sums. `notes`: where not null, why its prim_funcs are not fewer.
Module fuse(const Module& module, FusionNotes* notes = nullptr);

// The nests of one function. The same handle when nothing changed.
PrimFuncPtr fuse(const PrimFuncPtr& function);

}  // namespace relish

// Fusion: calls of prim_funcs whose loops can be one become calls of one prim_func, and the nests of one
// prim_func become fewer, from module to module. What is handed from one to the next is no tensor any more.
#pragma once

#include <unordered_map>

#include "ir/nodes/module.h"
#include "schedule/fusion/notes.h"

namespace relish {

// By the node of a call: the one of the calls it was made of that may fail, by checks.
using CheckingCalls = std::unordered_map<const ExprNode*, Expr>;

// The same module with calls and nests fused, behind legalize and before schedule. What a call may fault by
// stays as it is, but for checks, as do calls with effects, in place, or with several results of which more
// than one is taken, unless these are copies. The first fault of a run stays the first, and what the call
// that it is one of takes is there. Every element of a result has the bits that it had, but for those that
// are sums. `notes`: where not null, why its prim_funcs are not fewer. `checking`: where not null, what made
// calls may fail.
Module fuse(const Module& module, FusionNotes* notes = nullptr, CheckingCalls* checking = nullptr);

// The nests of one function. The same handle when nothing changed.
PrimFuncPtr fuse(const PrimFuncPtr& function);

}  // namespace relish

// Lowering of operator calls to call_tir of prim_funcs.
#pragma once

#include <unordered_map>

#include "ir/nodes/module.h"

namespace relish {

// Calls whose loop nest depends on what only the run shows: kept as operator calls where the operator can be
// evaluated, or refused with a TypeError (legalize.shape, or the operator's own rule).
enum class UnknownShapes : std::uint8_t { Kept, Refused };

// Which operator call a call_tir stands for, by the node of the call_tir: of those whose loop nest can fail.
using LoweredCalls = std::unordered_map<const ExprNode*, Expr>;

// Every operator call becomes a call_tir, but for those above. Equal
// lowerings share one prim_func. `lowered` receives what the calls were.
Module legalize(const Module& module, UnknownShapes unknown = UnknownShapes::Kept,
                LoweredCalls* lowered = nullptr);

}  // namespace relish

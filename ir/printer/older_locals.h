// Locals that are assigned, for dialects without them.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// TVM before 0.25 reads each `k = k + 1` of a prim_func as a name of its own. A local that is assigned anew
// is there a buffer of one element, in scope "local": k[0] = k[0] + 1. Nothing where there is no such local.
std::optional<PrimFunc> with_buffers_for_locals(const PrimFunc& function);
// The module that a text of it in an older dialect reads back as.
Module as_older_dialects_say(const Module& module);

}  // namespace relish

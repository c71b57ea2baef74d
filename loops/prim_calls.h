// Calls between the prim_funcs of a module, put in the place of the calls: what the callee does, on the
// buffers and scalars that it is given. So both tiers run them, and neither knows of them.
#pragma once

#include "ir/module.h"

namespace relish {

// The module with such calls replaced; itself when it has none. A function keeps its calls (and is refused
// when it is called) when one of them cannot be replaced: the callee reaches itself, is given something
// else than whole buffers of its dtypes, ranks and sizes, or gives a scalar by more than one return. The last
// modules are remembered.
ModulePtr with_prim_calls_replaced(const ModulePtr& module);

}  // namespace relish

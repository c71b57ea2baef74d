// Calls between the prim_funcs of a module, put in the place of the calls: what the callee does, on the
// buffers and scalars that it is given. So both tiers run them, and neither knows of them.
#pragma once

#include <string_view>

#include "ir/nodes/module.h"

namespace relish {

// The module for a call of its `function`, with such calls replaced; itself when it has none. Those that only
// prim_funcs call keep theirs, as nobody runs them. When a call cannot be replaced, the function that reaches
// it is nothing but that call, and is refused for it: the callee reaches itself, is given something else than
// whole buffers of its dtypes, ranks and sizes, gives a scalar by more than one return, or there is too much
// to put in the places of calls. The last modules are remembered.
ModulePtr with_prim_calls_replaced(const ModulePtr& module, std::string_view function);

// The module with all such calls replaced for good; functions where that cannot be keep theirs.
Module prim_calls_inlined(const ModulePtr& module);

}  // namespace relish

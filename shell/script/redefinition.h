// Redefinition of a free function: its callers are checked again, and one that no longer fits refuses the
// change.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// The module with `functions` added or replaced and the types of callers of the replaced ones inferred anew.
// TypeError at `span` naming the caller that a new definition breaks.
ModulePtr with_functions(const Module& module, const std::vector<GlobalFunction>& functions, Span span);

// Whether callers of the one find nothing new in the other.
bool has_same_signature(const GlobalFunction& a, const GlobalFunction& b);

// The module with the very functions of `known` in the place of those that are written in the same way: what
// was made from them is known, and what was compiled of them is there.
ModulePtr with_known_functions(const ModulePtr& module, const Module& known);

}  // namespace relish

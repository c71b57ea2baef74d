// Redefinition of a free function: its callers are checked again, and one that no longer fits refuses the change.
#pragma once

#include "ir/module.h"

namespace relish {

// The module with `function` added or replaced and the types of its callers inferred anew. TypeError at `span` naming
// the caller that the new definition breaks.
ModulePtr with_function(const Module& module, const GlobalFunction& function, Span span);

}  // namespace relish

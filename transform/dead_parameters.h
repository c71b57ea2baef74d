// Removal of parameters that nothing uses.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Of private functions that are only called. A parameter that only goes on to such a one, as in a recursion,
// is not used either. It stays when a size that its type mentions stands elsewhere in the function, and when
// a call would be checked by it at run time. What callers computed for it stays, for dce to remove. Functions
// in which nothing is to be done keep their handles.
Module remove_dead_parameters(const Module& module);

}  // namespace relish

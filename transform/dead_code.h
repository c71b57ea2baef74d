// Removal of bindings that nothing uses and of private functions that nothing reaches.
#pragma once

#include "ir/module.h"

namespace relish {

Module eliminate_dead_code(const Module& module);
Function eliminate_dead_bindings(const Function& function);

}  // namespace relish

// What this tier does not compile yet, refused by name before any code is made.
#pragma once

#include "ir/nodes/module.h"

namespace relish::jit {

// Failure(TypeError) at the first construct of the functions that has no code generation.
void require_compilable(const FunctionList& functions);

}  // namespace relish::jit

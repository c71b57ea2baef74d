// When two modules are the same program, and two functions: they differ in names of bindings at most.
#pragma once

#include "ir/nodes/module.h"
#include "shell/script/script_value.h"

namespace relish {

// Functions are found by their names; their order and what the class is called make no difference.
bool is_same_program(const Module& a, const Module& b);
// With all functions that they reach.
bool is_same_program(const FunctionReference& a, const FunctionReference& b);

}  // namespace relish

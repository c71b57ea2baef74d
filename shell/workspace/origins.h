// Where functions of modules come from: the command that made each, and of which function. What a function
// was made from may be another one by now; then it is stale.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/module.h"
#include "ir/nodes/origin.h"
#include "shell/script/script_observer.h"

namespace relish {

// Null for a function that no command made.
OriginPtr origin_of(const GlobalFunction& function);
// The function with that origin; the very same one when it has it.
GlobalFunction with_origin(const GlobalFunction& function, OriginPtr origin);
// `call.after`, whose functions say where they come from: those that the call made in input `input` from its
// function. A command that replaces all functions of a module by ones that mean the same (legalize) hands
// their origins on.
ModulePtr with_origins(const TransformCall& call, std::size_t input);

// The functions of the module that were made from what is no longer there in that form, or from one that is
// stale itself, in the order of the module.
std::vector<GlobalFunction> stale_functions(const Module& module);

// What a transform did to a module, by names.
struct ModuleChanges {
  std::vector<std::string> added, replaced, removed;
};
ModuleChanges changes_between(const Module& before, const Module& after);

// "main(x, w)": to tell functions apart that differ in their parameters.
std::string parameters_of(const GlobalFunction& function);
bool is_same_function(const GlobalFunction& a, const GlobalFunction& b);

}  // namespace relish

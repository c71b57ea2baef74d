// Lifting of bodies: nested functions become functions of the module that take what they captured as further
// parameters, and the branches of ifs and the bodies of loops become private functions that these call. What
// is left of an if or a loop is control around calls, which is how the compiled tier takes it.
#pragma once

#include "ir/module.h"

namespace relish {

// The attribute of functions made from branches and loop bodies, and of functions that may call themselves:
// compiled code gives their results storage of their own, so that callers need not see inside.
inline constexpr std::string_view owns_results = "relish.owns_results";
// The attribute of functions of the text that may come to call themselves; its value is their name there.
inline constexpr std::string_view recursive_function = "relish.recursive";

// The attribute of a lifted function: its name in the text.
inline constexpr std::string_view function_name = "relish.function_name";
// The attribute of an R.make_closure whose arguments stand behind those of the calls.
inline constexpr std::string_view captures_behind = "relish.captures_behind";

// Every region of the result holds one call of a made function and takes its results apart. The functions'
// parameters: those of the region or nested function, the captured variables, then a shape of the symbols in
// use. A nested function that is used other than by a call is bound to an R.make_closure of what it captured.
// Functions of the module that are used as values own their results.
Module lift_bodies(const Module& module);

// The call in a lifted region.
const FunctionCall& lifted_call(const Region& region);

}  // namespace relish

// Lifting of bodies: nested functions become functions of the module that take what they captured as further
// parameters, and the branches of ifs and the bodies of loops become private functions that these call. What
// is left of an if or a loop is control around calls, which is how the compiled tier takes it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/nodes/module.h"

namespace relish {

// What is known of a function of the result. It stands beside the module: no text says it.
struct LiftedFunction {
  // Made of a branch or a loop body, used as a value, or one that may call itself: its results have storage
  // of their own, so that callers need not see inside.
  bool owns_results = false;
  bool recursive = false;  // it may come to call itself
  // Of a loop's body: so many of its first parameters are what the loop carries. The loop lets go of them
  // behind the call.
  std::size_t carried = 0;
  // Of a loop's body: a round, with what asks for it, may do more than give values (has_effects). It may
  // write to what all rounds share.
  bool effects = false;
  std::string written_name;  // of a nested function: its name in the text. It takes what it captured last.
};
using LiftedFunctions = std::unordered_map<std::string, LiftedFunction>;  // by name

struct LiftedModule {
  Module module;
  LiftedFunctions functions;  // of which more is known than their text
};

// Every region of the result holds one call of a made function and takes its results apart. The functions'
// parameters: those of the region or nested function, the captured variables, then a shape of the symbols in
// use. A nested function that is used other than by a call is bound to an R.make_closure of what it captured.
LiftedModule lift_bodies(const Module& module);

// Of nested functions alone, as far as they are only called: branches and loops stay as they are, and so do
// functions that are used as values. Functions without such nested ones keep their handles.
Module lambda_lift(const Module& module);

// What is known of the function, or nothing.
const LiftedFunction& lifted_function(const LiftedFunctions& functions, std::string_view name);
// The function's name in the text.
std::string written_name(const LiftedFunctions& functions, std::string_view name);

// The call in a lifted region.
const FunctionCall& lifted_call(const Region& region);

}  // namespace relish

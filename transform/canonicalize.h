// The plain form of a module: no variable that is only another name, no field taken out of a tuple that was
// just made, no match_cast to what is known.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Functions in which nothing is to be done keep their handles. Tuples that nothing takes any more go (as all
// dead bindings of the functions that change).
Module canonicalize(const Module& module);
// Of one function: the same handle when nothing is to be done.
FunctionPtr canonicalized(const FunctionPtr& function);
// The same, but that of bindings which nobody uses only tuples and their fields go: whatever computes stays.
FunctionPtr with_tuples_taken_apart(const FunctionPtr& function);

}  // namespace relish

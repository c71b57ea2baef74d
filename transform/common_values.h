// Common subexpressions: what has been computed is not computed again.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Of values without effects that are equal in operation, operands, attributes and type, the first is kept
// where it is in sight: from a block and the bodies around it, never from one branch into another, nor into a
// nested function. Functions in which nothing is found keep their handles.
Module eliminate_common_values(const Module& module);

}  // namespace relish

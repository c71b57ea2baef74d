// Dataflow blocks wherever bindings have no effects and no control.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Runs of at least two such bindings become a dataflow block, whose outputs are the variables that are used
// behind it; neighbouring blocks become one. Bodies of ifs, loops and nested functions too. Functions in
// which nothing is to be done keep their handles.
Module to_dataflow(const Module& module);

}  // namespace relish

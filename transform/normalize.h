// The plain form of blocks.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Values are single steps since they were read. What is left: neighbouring blocks of one kind become one,
// also in bodies of ifs, loops and nested functions, and what a dataflow block gives though nothing behind it
// takes it is local to it. Functions in which that holds already keep their handles.
Module normalize(const Module& module);

}  // namespace relish

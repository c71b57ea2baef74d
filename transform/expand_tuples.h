// Parameters that are tuples become one parameter for each field.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Of private functions that are only called; fields that are tuples are taken apart too, and calls give the
// fields. Where the function uses the tuple as a whole, it makes it first. Functions in which nothing is to
// be done keep their handles.
Module expand_tuples(const Module& module);

}  // namespace relish

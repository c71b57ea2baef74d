// Tensors of which only the rank is known get names for their sizes: what gradients ask of a shape is then
// there, and nobody has to write R.match_cast for it.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// The function with an R.match_cast before the first use of each such tensor, whose uses take its result, and
// with what follows of that for the types of other values. The same handle when there is none.
FunctionPtr with_named_sizes(const FunctionPtr& function);

}  // namespace relish

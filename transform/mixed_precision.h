// A function that computes in half precision where that pays, and takes and returns what it did: contractions
// (matmul, linear, convolutions, einsum, attention) take their operands in half precision; what follows them
// element by element stays there; all else, such as norms, sums, softmax and losses, is float32. Functions of
// the module that it calls have such forms of their own; the bodies of branches and loops, loop nests and
// native functions stay as they are.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Adds the form of a function of float32 under `<function>_<dtype>`, and those of what it calls; returns its
// name. TypeError when the function has no contraction of float32, so that the form would be as it is.
std::string add_mixed_precision(Module& module, const std::string& function, DType half);

}  // namespace relish

// The norm of all gradients of a step together, in words that no finite gradient makes infinite and no small
// one 0.
#pragma once

#include "ir/nodes/builder.h"
#include "ir/nodes/module.h"

namespace relish {

// The root of the sum of all squares, a float64 of rank 0. The same gradients give the same bindings, so that
// what clips by it and what tells it are computed once.
Expr norm_of_gradients(FunctionBuilder& builder, Module& target, const std::vector<Expr>& gradients);

}  // namespace relish

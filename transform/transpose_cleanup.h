// Tidying of transposes around matmul, which the gradient of matmul leaves behind.
#pragma once

#include <vector>

#include "ir/nodes/builder.h"
#include "ir/rewriting/rewrite.h"

namespace relish {

// Rewrites bindings[first..]: a transpose of a transpose that undoes it becomes the original variable, and
// the transpose of a matmul of transposed operands becomes the matmul of the operands the other way round, as
// TVM's gradient does: for a @ bT the gradients are g @ b and gT @ a. New steps take fresh names from
// `names`; `renamed` tells what became of the variables of the rewritten bindings.
std::vector<Binding> simplify_transposes(std::vector<Binding> bindings, std::size_t first,
                                         FunctionBuilder& names, VarMap& renamed);

}  // namespace relish

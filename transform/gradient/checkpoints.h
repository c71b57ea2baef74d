// The marks R.grad.start_checkpoint and R.grad.end_checkpoint: which values of the way there a gradient does
// not keep but computes again.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "ir/nodes/module.h"
#include "ir/rewriting/rewrite.h"

namespace relish {

using ValueIds = std::unordered_set<std::uint64_t>;  // of variables

// As in TVM, of the bindings of one body: what is made of a tensor behind a start is computed again, and what
// is made of that, up to an end. What a start marks is kept, and what is made of kept values and ends alone.
ValueIds values_between_marks(const std::vector<Binding>& bindings);

// The bindings without the marks; uses take the tensors that were marked. What became of the variables is
// entered into `renamed`.
std::vector<Binding> without_marks(const std::vector<Binding>& bindings, VarMap& renamed);
// The same of all bodies of a function.
FunctionPtr without_marks(Function&& function);

}  // namespace relish

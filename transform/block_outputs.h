// What dataflow blocks give: a variable that only its own block takes is local to it.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

using VarIds = std::unordered_set<std::uint64_t>;

// Enters into `locals` the variables that dataflow blocks of one body bind and nothing else takes, neither
// another block nor the results.
void collect_locals(const std::vector<BindingBlock>& blocks, std::span<const Expr> results, VarIds& locals);

// The function with these variables local to their blocks; the same handle when all of them are already.
FunctionPtr with_locals(const FunctionPtr& function, const VarIds& locals);

}  // namespace relish

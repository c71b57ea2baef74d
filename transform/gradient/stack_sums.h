// Stacks made of what others hold, by loops: as their cotangents are, and sums of these where a stack is used
// more than once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/nodes/builder.h"

namespace relish {

// A stack of what is made of the tops of these, which are equally high, down to the bottom.
Expr restacked(const std::vector<Expr>& stacks, const std::string& hint,
               const std::function<Expr(const std::vector<Expr>&)>& made, FunctionBuilder& builder);
// The sum of two cotangents of one value, leaf by leaf; what is not floating is that of the first.
Expr sum_of(const Expr& a, const Expr& b, FunctionBuilder& builder);

}  // namespace relish

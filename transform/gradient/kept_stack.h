// Values that are kept on an R.Stack, as tuples: those of rounds that nobody has counted, of recursive calls,
// and those whose sizes are others each time.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/rewriting/rewrite.h"

namespace relish {

// The type of a stack of such tuples: sizes that are no numbers are open, for they may change.
Type kept_stack_type(const std::vector<Var>& values);
// A stack of the type with nothing on it.
Expr empty_stack(const Type& type, const std::string& hint, FunctionBuilder& builder);
// The stack with a tuple of the values on its top.
Expr pushed(const Expr& stack, const std::vector<Var>& values, const std::string& hint,
            FunctionBuilder& builder);
// The stack without its top; `vars` receives what stands for the values now, in sizes as `scalars` have them.
Expr popped(const Expr& stack, const std::vector<Var>& values, const std::string& hint, VarMap& vars,
            FunctionBuilder& builder, const ScalarMap& scalars = {});

}  // namespace relish

// Second copies of code in one function: with variables of its own, inside of values too.
#pragma once

#include <vector>

#include "ir/nodes/builder.h"
#include "ir/rewriting/rewrite.h"

namespace relish {

// The bindings over what `vars` and `scalars` say of the variables around them, with fresh names; what they
// bind is entered into `vars`.
std::vector<Binding> fresh_bindings(const std::vector<BindingBlock>& blocks, FunctionBuilder& builder,
                                    VarMap& vars, const ScalarMap& scalars = {});

}  // namespace relish

// Symbolic variables of graph functions: which of them a type determines, and which a function mentions.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/expr.h"

namespace relish {

// Appends the variables that stand alone as a dimension in the type: a value of the type determines them.
void collect_determined(const Type& type, std::vector<ScalarVar>& into);

// Calls `visit` for every scalar variable that the function mentions, each once, in order of first mention:
// parameter types, then values and types of bindings in order, then result and result type.
void for_each_symbol(const Function& function, const std::function<void(const ScalarVar&)>& visit);

// The scalar parameter (n: T.int64) that a dimension variable stands for: both have the same name and dtype,
// and no parameter's type determines the variable. Nothing when there is none.
std::optional<Var> scalar_parameter_of(const Function& function, const ScalarVar& symbol);

}  // namespace relish

// How the arguments and results of a call_tir meet the parameters of the prim_func: scalars go to scalar
// parameters in order, tensors to buffer parameters in order, results to the buffer parameters that remain.
// Results that take an
// argument's storage (call_tir_inplace) have no parameter of their own. One rule for both tiers.
#pragma once

#include <vector>

#include "ir/nodes/expr.h"
#include "ir/nodes/stmt.h"

namespace relish {

struct ParamSource {
  enum Kind { Argument, Result } kind;
  std::size_t index;  // into the call's args or its results
};

// One entry per parameter of `function`. TypeError at `span` when counts or kinds do not match.
std::vector<ParamSource> call_layout(const PrimFunc& function, const CallTir& call, Span span);

}  // namespace relish

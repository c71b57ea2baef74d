// The body of a function as a list of bindings to differentiate: with variables of its own, and with calls
// inlined that are not differentiated as calls.
#pragma once

#include <functional>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/rewriting/rewrite.h"
#include "transform/gradient/job.h"

namespace relish {

struct BodyCopy {
  std::vector<Var> params;
  std::vector<Binding> bindings;
  Expr result;
  VarMap vars;  // of the function's variables
};

// Calls of functions in which types say less than the arguments may are inlined where they do not reach
// themselves. Other calls stay: they are differentiated as pairs.
BodyCopy copy_body(GradientJob& job, const Function& function, FunctionBuilder& builder);

}  // namespace relish

// The tangent of an operator from its gradient rule. The rule is linear in the cotangent of the result; its
// transpose, the gradient of the rule with respect to that cotangent, takes tangents of the arguments to the
// tangent of the result.
#pragma once

#include <functional>
#include <vector>

#include "ir/nodes/builder.h"
#include "transform/gradient/adjoint.h"
#include "transform/gradient/job.h"

namespace relish {

// What a cotangent of the result gives to each argument, undefined: nothing. Steps go to the builder.
using PartialsOf = std::function<std::vector<Expr>(const Expr& cotangent, FunctionBuilder& builder)>;

// The tangent of `output` for tangents of the arguments, with its steps in `builder`. They mention no
// cotangent; where sizes of one are asked for, that of zeros stands in.
Adjoint transposed(GradientJob& job, const Var& output, const std::vector<Adjoint>& tangents,
                   const PartialsOf& partials, FunctionBuilder& builder);

}  // namespace relish

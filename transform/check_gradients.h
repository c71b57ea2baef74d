// The gradient of a function against differences of the function itself, at given arguments: the full
// Jacobian of small parameters, fixed directions of large ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/operators/evaluator.h"

namespace relish {

struct GradientCheckOptions {
  std::vector<std::string> wrt;                  // as of `gradient`
  std::int64_t most_elements_for_jacobian = 64;  // of one parameter; beyond, `directions` are taken
  int directions = 4;
};

// One difference quotient: along element `index` of a parameter, or along a direction.
struct GradientDifference {
  std::string place;  // "[0, 3]", "direction 2"
  double analytic = 0, numeric = 0;
};

struct CheckedParameter {
  std::string name;
  Shape shape;
  bool jacobian = true;
  int quotients = 0;         // compared
  int at_kinks = 0;          // of those, where the one-sided slopes differ and the gradient lies between them
  double largest_error = 0;  // |analytic - numeric| where there is no kink
  std::vector<GradientDifference> wrong;
};

struct GradientCheck {
  DType dtype = DType::Float64;  // in which it was done; else the function's own
  std::vector<CheckedParameter> parameters;
  bool good() const;
};

// Every floating tensor of the result counts, each with a fixed cotangent in [-1, 1]. In float64 (five-point
// differences, h = 1e-3 max(1, |x|); agreement rtol 1e-5, atol 1e-7: reliability, section E) when the
// function can be widened, else in its own dtype (h = 1e-2; rtol 1e-2, atol 1e-3). A kink is where the slopes
// on the two sides differ: there the gradient must lie between them. Failure as of `gradient` and of the
// calls; TypeError "gradient.result" when nothing of the result is floating.
GradientCheck check_gradients(const Module& module, std::string_view function, std::vector<Value> arguments,
                              const GradientCheckOptions& options, Evaluator& evaluator);

}  // namespace relish

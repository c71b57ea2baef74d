// The gradient of one operator call: a function that sums the result times a cotangent, its adjoint by the
// gradient transform, and the loss itself for differences.
#pragma once

#include <vector>

#include "tests/ops/operator_case.h"

namespace relish::testing {

struct GradientCase {
  ModulePtr module;              // `main(x0, …, ct) -> loss` and `main_adjoint`
  std::vector<Value> inputs;     // the tensors of the call, then the cotangent
  std::vector<std::size_t> wrt;  // which inputs are differentiated: the floating ones

  double loss(Evaluator& engine, const std::vector<Value>& at) const;
  // One tensor for each of `wrt`.
  std::vector<Tensor> partials(Evaluator& engine, const std::vector<Value>& at) const;
};

// Failure(TypeError) when the operator cannot be differentiated. Without a cotangent, a fixed one in [-1, 1]
// is made. With `shared`, the first tensor stands for the second one too: f(x, x), with one partial.
GradientCase gradient_case(const OperatorCase& operator_case, Tensor cotangent = {}, bool shared = false);

}  // namespace relish::testing

// The gradient of one operator call: a function that sums the floating results times a cotangent each, its
// adjoint by the gradient transform, and the loss itself for differences.
#pragma once

#include <functional>
#include <vector>

#include "tests/ops/operator_case.h"

namespace relish::testing {

struct GradientCase {
  ModulePtr module;              // `main(x0, …, ct) -> loss` and `main_adjoint`
  std::vector<Value> inputs;     // the tensors of the call, then the cotangents
  std::size_t cotangents = 0;    // how many: one for each floating tensor of the result
  std::vector<std::size_t> wrt;  // which inputs are differentiated: the floating ones

  double loss(Evaluator& engine, const std::vector<Value>& at) const;
  // One tensor for each of `wrt`.
  std::vector<Tensor> partials(Evaluator& engine, const std::vector<Value>& at) const;
};

// The call of a sample in float64 throughout, without an attribute that fixes a narrower dtype; nothing when
// it has no such form with floating results.
std::optional<OperatorCase> float64_case(const Op& op, const Sample& sample, const std::string& label);

// Failure(TypeError) when the operator cannot be differentiated. Without cotangents, fixed ones in [-1, 1]
// are made. With `shared`, the first tensor stands for the second one too: f(x, x), with one partial.
GradientCase gradient_case(const OperatorCase& operator_case, std::vector<Tensor> cotangents = {},
                           bool shared = false);

// The floating tensors of a result's type, in order: the type itself, or fields of the tuple.
std::vector<Type> floating_results(const Type& type);

// A direction for the input, the `which`-th one: fixed numbers in [-1, 1].
Tensor direction_like(const Tensor& x, std::size_t which);

// Calls `check` with each sample of these operators whose gradient is tested, in float64. What it throws is a
// failed check; the sample is named.
void for_each_differentiable(const std::function<void(const Op&, const OperatorCase&)>& check);

}  // namespace relish::testing

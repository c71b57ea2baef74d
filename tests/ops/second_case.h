// The second derivatives of one operator call: a function that sums the first partials times a weight each,
// and its adjoint.
#pragma once

#include <vector>

#include "tests/ops/gradient_case.h"

namespace relish::testing {

struct SecondCase {
  ModulePtr module;           // `slope(inputs…, weights…) -> sum of weights * partials`, and `slope_adjoint`
  std::vector<Value> inputs;  // of both; the weights are the last of them, one for each of `wrt`
  std::vector<std::size_t> wrt;
};

SecondCase second_case(const GradientCase& first);

}  // namespace relish::testing

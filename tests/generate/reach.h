// Which operators a program puts to the test, and which a run of programs has to: an operator whose result
// never reaches what `main` gives proves nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/nodes/module.h"
#include "ir/operators/op.h"

namespace relish::generate {

// Operators called by `main`, and by the functions that it calls, on whose results the result of `main`
// depends, or which have effects. `varied`: of those only the ones in `main` itself that take what depends
// on a floating parameter.
std::set<std::string> operators_in_result(const Module& module, bool varied);

// The operators that programs of a kind must meet, by name. Those left out have a reason in `left_out`.
struct Eligible {
  std::vector<const Op*> operators;
  std::vector<std::string> left_out;  // "print: …"
};
Eligible eligible_operators(bool differentiable);

}  // namespace relish::generate

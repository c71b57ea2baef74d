// Whether results of an operator call agree: by the class that the declaration gives the call, and for sums
// by the magnitudes and the number of their terms.
#pragma once

#include <string>
#include <string_view>

#include "support/failure.h"
#include "tests/ops/operator_case.h"

namespace relish::testing {

// "Class: message [id]" of a refusal.
std::string text_of(const Failure& failure);

// The class of one call: that of the operator, or what its attributes choose.
Agreement agreement_of(const BuiltCall& call);

// What the bound of class Sum is made of: the operator on absolute values, and the number of terms of an
// element.
struct Magnitudes {
  Tensor sums;
  std::int64_t terms = 1;
};
Magnitudes magnitudes_of(const OperatorCase& operator_case);

// Empty when `actual` agrees with `wanted` by the class of the call; else the first place where not, in
// words. Values may be tensors or tuples of them.
std::string disagreement_by_class(const OperatorCase& operator_case, const Value& actual,
                                  const Value& wanted);

}  // namespace relish::testing

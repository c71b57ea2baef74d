// Comparison of tensors and texts by agreement class (runtime/closeness.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/closeness.h"
#include "runtime/tensor.h"
#include "runtime/value.h"

namespace relish::testing {

using relish::class_of_models;
using relish::class_of_training;
using relish::Closeness;
using relish::closeness;
using relish::most_ulps;
using relish::rounding_unit;
using relish::ulp_distance;

// What the bound of class 5 is made of: the sums of the absolute values of the terms, and how many there are.
struct Terms {
  const Tensor* magnitudes = nullptr;  // of the shape of the results
  std::int64_t count = 1;
};

// Empty when `actual` agrees with `wanted`; else the first place where it does not, in words.
std::string disagreement(const Tensor& actual, const Tensor& wanted, int agreement_class,
                         const Terms& terms = {});
std::string disagreement(const Value& actual, const Value& wanted, int agreement_class);
std::string disagreement(const Tensor& actual, const Tensor& wanted, const Closeness& allowed);

// Texts with numbers in them: equal but for numbers, and these within the class for the dtype last named in
// the text (float32 when none is). Integers must be equal.
std::string text_disagreement(std::string_view actual, std::string_view wanted, int agreement_class);

}  // namespace relish::testing

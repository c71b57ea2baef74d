// How far results may differ: the one table of agreement classes for all tests, and comparison by it. Classes
// 1 to 7 are those of operators (Agreement), 8 is a whole model, 9 a training run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/tensor.h"
#include "runtime/value.h"

namespace relish::testing {

inline constexpr int class_of_models = 8;
inline constexpr int class_of_training = 9;

// |a - b| <= rtol * |b| + atol.
struct Closeness {
  double rtol = 0;
  double atol = 0;
};

// Classes 6, 8 and 9; zero for the others, which are bitwise or counted in units in the last place.
Closeness closeness(int agreement_class, DType dtype);
// Class 4: units in the last place of the dtype.
std::int64_t most_ulps(DType dtype);
// Half a unit in the last place of 1.0.
double rounding_unit(DType dtype);
// Distance in units in the last place; NaN is at distance 0 from NaN, +0 from -0.
std::int64_t ulp_distance(double a, double b, DType dtype);

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

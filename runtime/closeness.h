// How far results that should agree may differ: the one table of agreement classes. Classes 1 to 7 are those
// of operators (Agreement), 8 is a whole model, 9 a training run.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace relish {

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

// Class 5: how far a sum of so many terms may be off, `magnitude` being the sum of their absolute values.
double sum_bound(double value, double magnitude, std::int64_t terms, DType dtype);

}  // namespace relish

// The error function.
#include "stdlib/families/unary.h"

#include <numbers>

namespace relish {
namespace {

constexpr Sample erf_samples[] = {
    {"[0.0, 0.5, -1.0, 6.0]"},
    {"rand((2, 3, 4), \"float64\") * 4.0 - 2.0"},
    {"rand((0, 3), \"float32\") * 4.0 - 2.0"},
    {"rand((), \"float32\") * 4.0 - 2.0"},
    {"rand((1, 1), \"float64\") * 4.0 - 2.0"},
    {"rand((17,), \"float32\") * 4.0 - 2.0"},
};
#define RELISH_FLOAT_REJECTS(name)                                                 \
  constexpr Reject name##_rejects[] = {                                            \
      {#name ".dtype", "R.const([1, 2], \"int32\")", "expected a floating dtype"}, \
      {#name ".tensor", "R.shape([2])", "expected a tensor"}}
RELISH_FLOAT_REJECTS(erf);
#undef RELISH_FLOAT_REJECTS

}  // namespace

extern const Op op_erf = elementwise_unary(
    {.name = "erf",
     .summary = "Error function of each element.",
     .gradient_doc = "dx = g * 2 / sqrt(pi) * e^(-x * x)",
     .agreement = Agreement::Elementary,
     .samples = erf_samples,
     .rejects = erf_rejects,
     .doc = "Floating dtypes only; 2 / sqrt(pi) times the integral of e^(-t * t) from 0 to x."},
    [](auto x) { return erf(x); },
    [](auto g, auto x, auto) {
      return g * constant_like(g, 2 * std::numbers::inv_sqrtpi) * call_op("exp", {-(x * x)});
    });

}  // namespace relish

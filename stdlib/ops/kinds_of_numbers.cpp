// What kind of number an element is.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_kinds_of_numbers {
namespace {

constexpr Sample kind_samples[] = {
    {"[1.0, -0.0, 3.5]", "", false},
    {"rand((2, 3, 4), \"float64\")", "", false},
    {"R.const([-128, 0], \"int8\")", "", false},
    {"rand((0, 3), \"float32\")", "", false},
    {"rand((), \"float64\")", "", false},
    {"R.const([True], \"bool\")", "", false},
};
#define RELISH_TENSOR_REJECTS(name) \
  constexpr Reject name##_rejects[] = {{#name ".tensor", "R.shape([2])", "expected a tensor"}}
RELISH_TENSOR_REJECTS(isfinite);
RELISH_TENSOR_REJECTS(isinf);
RELISH_TENSOR_REJECTS(isnan);
#undef RELISH_TENSOR_REJECTS

}  // namespace

extern const Op op_isfinite = flat_unary<elementwise::Domain::All, elementwise::Result::Bool>(
    {.name = "isfinite",
     .summary = "Whether each element is a finite number.",
     .no_gradient = "the result is bool",
     .samples = kind_samples,
     .rejects = isfinite_rejects,
     .doc = "Any dtype; integers are finite."},
    [](const auto& x) { return is_finite_number(x); });

extern const Op op_isinf = flat_unary<elementwise::Domain::All, elementwise::Result::Bool>(
    {.name = "isinf",
     .summary = "Whether each element is infinite.",
     .no_gradient = "the result is bool",
     .samples = kind_samples,
     .rejects = isinf_rejects,
     .doc = "Any dtype; integers are finite."},
    [](const auto& x) { return is_infinite(x); });

extern const Op op_isnan = flat_unary<elementwise::Domain::All, elementwise::Result::Bool>(
    {.name = "isnan",
     .summary = "Whether each element is NaN.",
     .no_gradient = "the result is bool",
     .samples = kind_samples,
     .rejects = isnan_rejects,
     .doc = "Any dtype; integers are finite."},
    [](const auto& x) { return is_not_a_number(x); });

}  // namespace relish::ops_kinds_of_numbers

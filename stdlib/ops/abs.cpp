// The magnitude of each element.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_abs {
namespace {

constexpr Sample abs_samples[] = {
    {"[1.5, -2.5, 4.0]", "[1.5, 2.5, 4.0]"}, {"R.const([-128, 127, -1], \"int8\")", "[-128, 127, 1]", false},
    {"rand((2, 3, 4), \"float64\") - 1.5"},  {"rand((0, 3), \"float32\")"},
    {"rand((), \"float32\") + 0.5"},         {"rand((17,), \"float32\") - 1.25"},
};
constexpr Reject abs_rejects[] = {{"abs.dtype", "R.const([True, False], \"bool\")", "expected numbers"}};

}  // namespace

extern const Op op_abs = elementwise_unary<elementwise::Domain::Numbers>(
    {.name = "abs",
     .summary = "Magnitude of each element.",
     .gradient_doc = "dx = g * sign(x), so 0 at 0",
     .samples = abs_samples,
     .rejects = abs_rejects,
     .doc = "The sign of a NaN or a zero goes too; the magnitude of the lowest integer is that integer. The "
            "slope at 0 is 0, where TVM has 1."},
    [](const auto& x) { return magnitude(x); },
    [](const auto& g, const auto& x, const auto&) { return g * call_op("sign", {x}); });

}  // namespace relish::ops_abs

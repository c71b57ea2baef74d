// Square root, its reciprocal, and the square.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_roots {
namespace {

constexpr auto root_samples = float_samples<" + 0.5">({"[4.0, 0.25, 2.0]"});
constexpr Sample square_samples[] = {
    {"[1.5, -2.0, 0.0]", "[2.25, 4.0, 0.0]"}, {"rand((2, 3, 4), \"float64\") - 0.5"},
    {"rand((0, 3), \"float32\") - 0.5"},      {"rand((), \"float32\") - 0.5"},
    {"rand((1, 1), \"float64\") - 0.5"},      {"rand((17,), \"float32\") - 0.5"},
};
constexpr Reject square_rejects[] = {{"square.dtype", "R.const([True], \"bool\")", "expected numbers"}};

}  // namespace

extern const Op op_sqrt = elementwise_unary(
    {.name = "sqrt",
     .summary = "Square root of each element.",
     .gradient_doc = "dx = 0.5 * g / y",
     .samples = root_samples,
     .rejects = float_rejects<"sqrt">,
     .doc = "Floating dtypes only; of negative numbers NaN, of -0 it is -0. The slope at 0 is infinite."},
    [](const auto& x) { return sqrt(x); },
    [](const auto& g, const auto&, const auto& y) { return constant_like(g, 0.5) * g / y; });

extern const Op op_rsqrt = elementwise_unary(
    {.name = "rsqrt",
     .summary = "Reciprocal of the square root of each element.",
     .gradient_doc = "dx = -0.5 * g * y / x",
     .agreement = Agreement::Elementary,
     .samples = root_samples,
     .rejects = float_rejects<"rsqrt">,
     .doc = "Floating dtypes only; 1 / sqrt(x), each rounded, so infinite at 0."},
    [](const auto& x) { return rsqrt(x); },
    [](const auto& g, const auto& x, const auto& y) { return constant_like(g, -0.5) * g * y / x; });

extern const Op op_square = elementwise_unary<elementwise::Domain::Numbers>(
    {.name = "square",
     .summary = "Each element times itself.",
     .gradient_doc = "dx = 2 * g * x",
     .samples = square_samples,
     .rejects = square_rejects,
     .doc = "Integers wrap around."},
    [](const auto& x) { return x * x; },
    [](const auto& g, const auto& x, const auto&) { return constant_like(g, 2) * g * x; });

}  // namespace relish::ops_roots

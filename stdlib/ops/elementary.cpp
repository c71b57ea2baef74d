// Exponential, logarithm and sign change.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_elementary {
namespace {

constexpr Sample exp_samples[] = {
    {"[0.0, 1.0, -1.0, 2.5]", "[1.0, 2.718281828459045, 0.36787944117144233, 12.182493960703473]"},
    {"[[0.5], [-0.25]]", "[[1.6487212707001282], [0.7788007830714049]]"},
    {"rand((0, 3), \"float32\")"},
    {"rand((2, 3, 4), \"float64\")"},
    {"rand((), \"float32\")"},
    {"rand((17,), \"float32\")"},
};
constexpr Reject exp_rejects[] = {{"exp.dtype", "R.const([1, 2], \"int32\")", "expected a floating dtype"}};

constexpr Sample log_samples[] = {
    {"[1.0, 2.718281828459045, 0.5, 10.0]", "[0.0, 1.0, -0.6931471805599453, 2.302585092994046]"},
    {"[[4.0], [0.125]]", "[[1.3862943611198906], [-2.0794415416798357]]"},
    {"rand((0, 3), \"float32\") + 0.5"},
    {"rand((2, 3, 4), \"float64\") + 0.5"},
    {"rand((), \"float32\") + 0.5"},
    {"rand((17,), \"float32\") + 0.5"},
};
constexpr Reject log_rejects[] = {{"log.dtype", "R.const([1, 2], \"int64\")", "expected a floating dtype"}};

constexpr Sample negative_samples[] = {
    {"[1.0, -2.5, 0.0]", "[-1.0, 2.5, -0.0]"},
    {"[[3.0], [-4.0]]", "[[-3.0], [4.0]]"},
    {"rand((0, 3), \"float32\")"},
    {"rand((2, 3, 4), \"float64\")"},
    {"rand((), \"float32\")"},
    {"rand((1,), \"float64\")"},
};
constexpr Reject negative_rejects[] = {
    {"negative.dtype", "R.const([True, False], \"bool\")", "expected numbers"}};

}  // namespace

extern const Op op_exp = elementwise_unary(
    {.name = "exp",
     .summary = "e to the power of each element.",
     .gradient_doc = "dx = g * y",
     .agreement = Agreement::Elementary,
     .samples = exp_samples,
     .rejects = exp_rejects,
     .doc = "Floating dtypes only; exp(0) is exactly 1."},
    [](const auto& x) { return exp(x); }, [](const auto& g, const auto&, const auto& y) { return g * y; });

extern const Op op_log = elementwise_unary(
    {.name = "log",
     .summary = "Natural logarithm of each element.",
     .gradient_doc = "dx = g / x",
     .agreement = Agreement::Elementary,
     .samples = log_samples,
     .rejects = log_rejects,
     .doc = "Floating dtypes only; log(1) is exactly 0, log(0) is -inf, and of negative numbers NaN."},
    [](const auto& x) { return log(x); }, [](const auto& g, const auto& x, const auto&) { return g / x; });

extern const Op op_negative = elementwise_unary<unary_family::Domain::Numbers>(
    {.name = "negative",
     .summary = "Each element with its sign changed.",
     .gradient_doc = "dx = -g",
     .samples = negative_samples,
     .rejects = negative_rejects,
     .doc = "Also written with a unary minus. Integers wrap around; the sign of a zero changes too."},
    [](const auto& x) { return negate(x); }, [](const auto& g, const auto&, const auto&) { return -g; });

}  // namespace relish::ops_elementary

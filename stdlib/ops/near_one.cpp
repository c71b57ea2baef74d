// Logarithm and exponential where their own arguments or results would lose digits: near 1.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_near_one {
namespace {

constexpr auto log1p_samples = float_samples<" + 0.25">(
    {"[0.0, 1.0, -0.5, 1e-06]", "[0.0, 0.6931471805599453, -0.6931471805599453, 9.999995000003334e-07]"});
constexpr auto expm1_samples = float_samples<" * 4.0 - 2.0">(
    {"[0.0, 1.0, -1.0, 1e-06]", "[0.0, 1.718281828459045, -0.6321205588285577, 1.0000005000001666e-06]"});

}  // namespace

extern const Op op_log1p = elementwise_unary(
    {.name = "log1p",
     .summary = "log(1 + x) of each element, exact for small x.",
     .gradient_doc = "dx = g / (1 + x)",
     .agreement = Agreement::Elementary,
     .samples = log1p_samples,
     .rejects = float_rejects<"log1p">,
     .doc = "Floating dtypes only; of -1 it is -inf, and below it NaN."},
    [](const auto& x) { return log1p(x); },
    [](const auto& g, const auto& x, const auto&) { return g / (constant_like(x, 1) + x); });

extern const Op op_expm1 = elementwise_unary(
    {.name = "expm1",
     .summary = "e^x - 1 of each element, exact for small x.",
     .gradient_doc = "dx = g * (y + 1)",
     .agreement = Agreement::Elementary,
     .samples = expm1_samples,
     .rejects = float_rejects<"expm1">,
     .doc = "Floating dtypes only."},
    [](const auto& x) { return expm1(x); },
    [](const auto& g, const auto&, const auto& y) { return g * (y + constant_like(y, 1)); });

}  // namespace relish::ops_near_one

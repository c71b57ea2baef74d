// Trigonometric functions and their inverses, angles in radians.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_trigonometry {
namespace {

constexpr auto angle_samples = float_samples<" * 3.0 - 1.5">({"[0.0, 1.0, -1.0, 4.5]"});
constexpr auto tan_samples = float_samples<" * 2.0 - 1.0">({"[0.0, 1.0, -1.25]"});
constexpr auto sine_samples = float_samples<" * 1.5 - 0.75">({"[0.0, 0.5, -0.875]"});
constexpr auto slope_samples = float_samples<" * 6.0 - 3.0">({"[0.0, 1.0, -1.0, 50.0]"});

}  // namespace

extern const Op op_sin = elementwise_unary(
    {.name = "sin",
     .summary = "Sine of each element.",
     .gradient_doc = "dx = g * cos(x)",
     .agreement = Agreement::Elementary,
     .samples = angle_samples,
     .rejects = float_rejects<"sin">,
     .doc = "Floating dtypes only. Infinite arguments give NaN."},
    [](const auto& x) { return sin(x); },
    [](const auto& g, const auto& x, const auto&) { return g * call_op("cos", {x}); });

extern const Op op_cos = elementwise_unary(
    {.name = "cos",
     .summary = "Cosine of each element.",
     .gradient_doc = "dx = -g * sin(x)",
     .agreement = Agreement::Elementary,
     .samples = angle_samples,
     .rejects = float_rejects<"cos">,
     .doc = "Floating dtypes only. Infinite arguments give NaN."},
    [](const auto& x) { return cos(x); },
    [](const auto& g, const auto& x, const auto&) { return -g * call_op("sin", {x}); });

extern const Op op_tan = elementwise_unary(
    {.name = "tan",
     .summary = "Tangent of each element.",
     .gradient_doc = "dx = g * (1 + y * y)",
     .agreement = Agreement::Elementary,
     .samples = tan_samples,
     .rejects = float_rejects<"tan">,
     .doc = "Floating dtypes only. Infinite arguments give NaN."},
    [](const auto& x) { return tan(x); },
    [](const auto& g, const auto&, const auto& y) { return g * (constant_like(y, 1) + y * y); });

extern const Op op_asin = elementwise_unary(
    {.name = "asin",
     .summary = "Angle in [-pi/2, pi/2] whose sine each element is.",
     .gradient_doc = "dx = g / sqrt((1 - x) * (1 + x))",
     .agreement = Agreement::Elementary,
     .samples = sine_samples,
     .rejects = float_rejects<"asin">,
     .doc = "Floating dtypes only; NaN outside [-1, 1]. The slope at both ends is infinite."},
    [](const auto& x) { return asin(x); },
    [](const auto& g, const auto& x, const auto&) {
      const GraphValue one = constant_like(x, 1);
      return g * call_op("rsqrt", {(one - x) * (one + x)});
    });

extern const Op op_acos = elementwise_unary(
    {.name = "acos",
     .summary = "Angle in [0, pi] whose cosine each element is.",
     .gradient_doc = "dx = -g / sqrt((1 - x) * (1 + x))",
     .agreement = Agreement::Elementary,
     .samples = sine_samples,
     .rejects = float_rejects<"acos">,
     .doc = "Floating dtypes only; NaN outside [-1, 1]. The slope at both ends is infinite."},
    [](const auto& x) { return acos(x); },
    [](const auto& g, const auto& x, const auto&) {
      const GraphValue one = constant_like(x, 1);
      return -g * call_op("rsqrt", {(one - x) * (one + x)});
    });

extern const Op op_atan = elementwise_unary(
    {.name = "atan",
     .summary = "Angle in [-pi/2, pi/2] whose tangent each element is.",
     .gradient_doc = "dx = g / (1 + x * x)",
     .agreement = Agreement::Elementary,
     .samples = slope_samples,
     .rejects = float_rejects<"atan">,
     .doc = "Floating dtypes only."},
    [](const auto& x) { return atan(x); },
    [](const auto& g, const auto& x, const auto&) { return g / (constant_like(x, 1) + x * x); });

}  // namespace relish::ops_trigonometry

// Hyperbolic functions and their inverses.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_hyperbolic {
namespace {

constexpr auto real_samples = float_samples<" * 4.0 - 2.0">({"[0.0, 1.0, -1.0, 3.5]"});
constexpr auto cosine_samples =
    float_samples<" + 1.5">({"[1.0, 1.5, 20.0]", "[0.0, 0.9624236501192069, 3.6882538673612966]", false});
constexpr auto inner_samples = float_samples<" * 1.5 - 0.75">({"[0.0, 0.5, -0.875]"});
constexpr std::string_view tanh_aliases[] = {"nn.tanh"};

}  // namespace

extern const Op op_sinh = elementwise_unary(
    {.name = "sinh",
     .summary = "Hyperbolic sine of each element.",
     .gradient_doc = "dx = g * cosh(x)",
     .agreement = Agreement::Elementary,
     .samples = real_samples,
     .rejects = float_rejects<"sinh">,
     .doc = "Floating dtypes only."},
    [](const auto& x) { return sinh(x); },
    [](const auto& g, const auto& x, const auto&) { return g * call_op("cosh", {x}); });

extern const Op op_cosh = elementwise_unary(
    {.name = "cosh",
     .summary = "Hyperbolic cosine of each element.",
     .gradient_doc = "dx = g * sinh(x)",
     .agreement = Agreement::Elementary,
     .samples = real_samples,
     .rejects = float_rejects<"cosh">,
     .doc = "Floating dtypes only."},
    [](const auto& x) { return cosh(x); },
    [](const auto& g, const auto& x, const auto&) { return g * call_op("sinh", {x}); });

extern const Op op_tanh = elementwise_unary(
    {.name = "tanh",
     .summary = "Hyperbolic tangent of each element.",
     .gradient_doc = "dx = g * (1 - y * y)",
     .agreement = Agreement::Elementary,
     .samples = real_samples,
     .rejects = float_rejects<"tanh">,
     .aliases = tanh_aliases,
     .doc = "Floating dtypes only; at infinity exactly 1 and -1."},
    [](const auto& x) { return tanh(x); },
    [](const auto& g, const auto&, const auto& y) { return g * (constant_like(y, 1) - y * y); });

extern const Op op_asinh = elementwise_unary(
    {.name = "asinh",
     .summary = "Number whose hyperbolic sine each element is.",
     .gradient_doc = "dx = g / sqrt(x * x + 1)",
     .agreement = Agreement::Elementary,
     .samples = real_samples,
     .rejects = float_rejects<"asinh">,
     .doc = "Floating dtypes only."},
    [](const auto& x) { return asinh(x); },
    [](const auto& g, const auto& x, const auto&) {
      return g * call_op("rsqrt", {x * x + constant_like(x, 1)});
    });

extern const Op op_acosh = elementwise_unary(
    {.name = "acosh",
     .summary = "Number >= 0 whose hyperbolic cosine each element is.",
     .gradient_doc = "dx = g / sqrt((x - 1) * (x + 1))",
     .agreement = Agreement::Elementary,
     .samples = cosine_samples,
     .rejects = float_rejects<"acosh">,
     .doc = "Floating dtypes only; NaN below 1. The slope at 1 is infinite."},
    [](const auto& x) { return acosh(x); },
    [](const auto& g, const auto& x, const auto&) {
      const GraphValue one = constant_like(x, 1);
      return g * call_op("rsqrt", {(x - one) * (x + one)});
    });

extern const Op op_atanh = elementwise_unary(
    {.name = "atanh",
     .summary = "Number whose hyperbolic tangent each element is.",
     .gradient_doc = "dx = g / ((1 - x) * (1 + x))",
     .agreement = Agreement::Elementary,
     .samples = inner_samples,
     .rejects = float_rejects<"atanh">,
     .doc = "Floating dtypes only; infinite at -1 and 1, NaN outside [-1, 1]."},
    [](const auto& x) { return atanh(x); },
    [](const auto& g, const auto& x, const auto&) {
      const GraphValue one = constant_like(x, 1);
      return g / ((one - x) * (one + x));
    });

}  // namespace relish::ops_hyperbolic

// The error function.
#include "stdlib/families/elementwise/unary.h"

#include <numbers>

namespace relish::ops_erf {
namespace {

constexpr auto erf_samples = float_samples<" * 4.0 - 2.0">({"[0.0, 0.5, -1.0, 6.0]"});

}  // namespace

extern const Op op_erf = elementwise_unary(
    {.name = "erf",
     .summary = "Error function of each element.",
     .gradient_doc = "dx = g * 2 / sqrt(pi) * e^(-x * x)",
     .agreement = Agreement::Elementary,
     .samples = erf_samples,
     .rejects = float_rejects<"erf">,
     .doc = "Floating dtypes only; 2 / sqrt(pi) times the integral of e^(-t * t) from 0 to x."},
    [](const auto& x) { return erf(x); },
    [](const auto& g, const auto& x, const auto&) {
      return g * constant_like(g, 2 * std::numbers::inv_sqrtpi) * call_op("exp", {-(x * x)});
    });

}  // namespace relish::ops_erf

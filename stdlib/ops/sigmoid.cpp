// The logistic function.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_sigmoid {
namespace {

constexpr Sample samples[] = {
    {"[0.0, 1.0, -1.0, 2.5]", "[0.5, 0.7310585786300049, 0.2689414213699951, 0.9241418199787566]"},
    {"[[20.0], [-20.0]]", "[[0.9999999979388463], [2.061153618190204e-09]]"},
    {"[0.25, -0.25]", "[0.5621765008857981, 0.4378234991142019]"},
    {"[88.0, -87.0]", "[1.0, 1.6458114310822737e-38]"},
    {"[4.0]", "[0.9820137900379085]"},
    {"rand((2, 3, 4), \"float64\")"},
    {"rand((0, 3), \"float32\")"},
};
constexpr Reject rejects[] = {{"sigmoid.dtype", "R.const([1, 2], \"int32\")", "expected a floating dtype"}};
constexpr std::string_view aliases[] = {"nn.sigmoid"};

}  // namespace

extern const Op op_sigmoid = elementwise_unary(
    {.name = "sigmoid",
     .summary = "The logistic function 1 / (1 + e^-x) of each element.",
     .gradient_doc = "dx = g * y * (1 - y)",
     .agreement = Agreement::Elementary,
     .samples = samples,
     .rejects = rejects,
     .aliases = aliases,
     .doc = "Floating dtypes only. Neither large nor small inputs overflow."},
    [](const auto& x) { return sigmoid(x); },
    [](const auto& g, const auto&, const auto& y) { return g * y * (constant_like(y, 1) - y); });

}  // namespace relish::ops_sigmoid

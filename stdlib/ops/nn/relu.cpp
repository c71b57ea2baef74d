// The rectifier.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_nn_relu {
namespace {

constexpr Param params[] = {{"data", ParamKind::Tensor, "tensor", "", "input"}};
constexpr Sample samples[] = {
    {"[-1.0, 2.0, -0.5, 3.5]", "[0.0, 2.0, 0.0, 3.5]"},
    {"[[1.5], [-1.5]]", "[[1.5], [0.0]]"},
    {"rand((0, 3), \"float32\")"},
    {"rand((2, 3, 4), \"float64\") + 0.25"},
    {"rand((), \"float32\") - 1.5"},
    {"rand((17,), \"float32\") + 0.25"},
};
constexpr Reject rejects[] = {{"relu.dtype", "R.const([True, False], \"bool\")", "expected numbers"}};

}  // namespace

extern const Op op_nn_relu = elementwise_unary<unary_family::Domain::Numbers>(
    {.name = "nn.relu",
     .summary = "The larger of each element and 0.",
     .params = params,
     .gradient_doc = "ddata = 0 where y <= 0, else g",
     .samples = samples,
     .rejects = rejects,
     .doc = "NaN propagates, and -0 gives +0. The slope at 0 is 0."},
    [](const auto& x) { return maximum_ieee(x, constant_like(x, 0)); },
    // The result tells as much as the data, and what comes behind keeps it anyway.
    [](const auto& g, const auto&, const auto& y) {
      return where(call_op("less_equal", {y, constant_like(y, 0)}), constant_like(g, 0), g);
    });

}  // namespace relish::ops_nn_relu

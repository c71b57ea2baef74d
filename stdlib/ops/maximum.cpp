// The larger and the smaller of two tensors, element by element.
#include "stdlib/families/elementwise/binary.h"

namespace relish::ops_maximum {
namespace {

constexpr Sample samples[] = {
    {"[1.0, 5.0, -3.0], [2.0, 4.0, -4.0]", "[2.0, 5.0, -3.0]"},
    {"[[1.0, 8.0], [3.0, 2.0]], [2.0, 4.0]", "[[2.0, 8.0], [3.0, 4.0]]"},
    {"[0.5, 2.5], [[1.0], [2.0], [3.0]]", "[[1.0, 2.5], [2.0, 2.5], [3.0, 3.0]]"},
    {"[[1.0, -1.0, 3.0]], [[0.0], [2.0]]", "[[1.0, 0.0, 3.0], [2.0, 2.0, 3.0]]"},
    {"rand((0, 2), \"float32\"), rand((2,), \"float32\")"},
    {"rand((3, 1), \"float64\"), rand((1, 4), \"float64\") + 2.0"},
};
constexpr Reject rejects[] = {
    {"maximum.shape", "rand((2, 3), \"float32\"), rand((2, 4), \"float32\")", "do not broadcast"},
    {"maximum.dtype", "rand((2,), \"float32\"), rand((2,), \"float64\")", "expected the same"},
    {"maximum.operands", "R.prim_value(1), R.prim_value(2)", "at least one tensor"},
};

constexpr Sample minimum_samples[] = {
    {"[1.0, 5.0, -3.0], [2.0, 4.0, -4.0]", "[1.0, 4.0, -4.0]"},
    {"[[1.0, 8.0], [3.0, 2.0]], [2.0, 4.0]", "[[1.0, 4.0], [2.0, 2.0]]"},
    {"[0.5, 2.5], [[1.0], [2.0], [3.0]]", "[[0.5, 1.0], [0.5, 2.0], [0.5, 2.5]]"},
    {"[[1.0, -1.0, 3.0]], [[0.0], [2.0]]", "[[0.0, -1.0, 0.0], [1.0, -1.0, 2.0]]"},
    {"rand((0, 2), \"float32\"), rand((2,), \"float32\")"},
    {"rand((3, 1), \"float64\"), rand((1, 4), \"float64\") + 2.0"},
};
constexpr Reject minimum_rejects[] = {
    {"minimum.shape", "rand((2, 3), \"float32\"), rand((2, 4), \"float32\")", "do not broadcast"},
    {"minimum.dtype", "rand((2,), \"float32\"), rand((2,), \"float64\")", "expected the same"},
    {"minimum.operands", "R.prim_value(1), R.prim_value(2)", "at least one tensor"},
};

// The share in g of the operand that `loses` where the comparison holds: none there, half at a tie, else all.
// A NaN on either side passes g to both, so that it is not hidden.
GraphValue share(const GraphValue& g, std::string_view loses, const GraphValue& self,
                 const GraphValue& other) {
  const GraphValue half = g * constant_like(g, 0.5);
  const GraphValue tie = call_op("equal", {self, other});
  const GraphValue lost = call_op(loses, {self, other});
  return where(lost, constant_like(g, 0.0), where(tie, half, g));
}

}  // namespace

extern const Op op_maximum = elementwise_binary<binary_family::Domain::All>(
    {.name = "maximum",
     .summary = "The larger of two elements.",
     .gradient_doc = "dx1 = sum_to(g where x1 > x2, g / 2 where x1 == x2, else 0, x1); dx2 likewise",
     .samples = samples,
     .rejects = rejects,
     .doc = "As IEEE 754-2019 maximum: NaN propagates and +0 is larger than -0, which does not depend on the "
            "order of the "
            "operands. At a tie the gradient is split evenly."},
    [](const auto& a, const auto& b) { return maximum_ieee(a, b); },
    [](const auto& g, const auto& x1, const auto& x2, const auto&) { return share(g, "less", x1, x2); },
    [](const auto& g, const auto& x1, const auto& x2, const auto&) { return share(g, "less", x2, x1); });

extern const Op op_minimum = elementwise_binary<binary_family::Domain::All>(
    {.name = "minimum",
     .summary = "The smaller of two elements.",
     .gradient_doc = "dx1 = sum_to(g where x1 < x2, g / 2 where x1 == x2, else 0, x1); dx2 likewise",
     .samples = minimum_samples,
     .rejects = minimum_rejects,
     .doc =
         "As IEEE 754-2019 minimum: NaN propagates and -0 is smaller than +0, which does not depend on the "
         "order of the operands. At a tie the gradient is split evenly."},
    [](const auto& a, const auto& b) { return minimum_ieee(a, b); },
    [](const auto& g, const auto& x1, const auto& x2, const auto&) { return share(g, "greater", x1, x2); },
    [](const auto& g, const auto& x1, const auto& x2, const auto&) { return share(g, "greater", x2, x1); });

}  // namespace relish::ops_maximum

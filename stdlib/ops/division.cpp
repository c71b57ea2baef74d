// Division rounded down, and the two remainders.
#include "stdlib/families/elementwise/binary.h"

namespace relish::ops_division {
namespace {

constexpr Sample division_samples[] = {
    {"[7.5, -7.5, 7.5, -7.5], [2.0, 2.0, -2.0, -2.0]"},
    {"R.const([7, -7, 7, -7], \"int32\"), R.const([2, 2, -2, -2], \"int32\")", "", false},
    {"[[9.25, 4.25], [3.75, 1.25]], [4.0, 0.75]"},
    {"[9.25, -5.5], [[2.0], [4.0]]"},
    {"rand((0, 3), \"float32\"), rand((1,), \"float32\") + 1.0"},
    {"rand((2, 1, 2), \"float64\") * 0.2 + 4.7, rand((3, 1), \"float64\") * 0.04 + 1.06"},
    {"rand((4,), \"float32\") * 0.5 + 5.25, R.const(5.0, \"float32\")"},
    {"R.const([200, 7], \"uint8\"), R.const([[3], [9]], \"uint8\")", "", false},
};
#define RELISH_PAIR_REJECTS(name)                                                                \
  constexpr Reject name##_rejects[] = {                                                          \
      {#name ".shape", "rand((2,), \"float32\"), rand((3,), \"float32\")", "do not broadcast"},  \
      {#name ".dtype", "rand((2,), \"float32\"), rand((2,), \"float64\")", "expected the same"}, \
      {#name ".operands", "R.prim_value(1), R.prim_value(2)", "at least one tensor"}}
RELISH_PAIR_REJECTS(floor_divide);
RELISH_PAIR_REJECTS(mod);
RELISH_PAIR_REJECTS(floor_mod);
#undef RELISH_PAIR_REJECTS
// -g times the integral quotient: (x1 - y) / x2, but for its rounding error.
GraphValue divisor_slope(const GraphValue& g, const GraphValue& x1, const GraphValue& x2,
                         const GraphValue& y) {
  return -g * call_op("round", {(x1 - y) / x2});
}

}  // namespace

extern const Op op_floor_divide = flat_binary<elementwise::Domain::Numbers>(
    {.name = "floor_divide",
     .summary = "Quotient rounded down.",
     .no_gradient = "the result is constant between its steps",
     .samples = division_samples,
     .rejects = floor_divide_rejects,
     .doc = "Also written x1 // x2. Floats too: floor(x1 / x2) of the rounded quotient. A zero divisor of "
            "integers is a "
            "RuntimeError; the lowest integer divided by -1 is itself."},
    [](const auto& a, const auto& b) { return floor_quotient(a, b); });

extern const Op op_mod = elementwise_binary<elementwise::Domain::Numbers>(
    {.name = "mod",
     .summary = "Remainder with the sign of the dividend.",
     .gradient_doc = "dx1 = sum_to(g, x1), dx2 = sum_to(-g * trunc(x1 / x2), x2)",
     .samples = division_samples,
     .rejects = mod_rejects,
     .doc = "Also written x1 % x2, which in Python and NumPy is floor_mod. Exact for floats, NaN for the "
            "divisor 0; a zero "
            "divisor of integers is a RuntimeError."},
    [](const auto& a, const auto& b) { return truncated_remainder(a, b); },
    [](const auto& g, const auto&, const auto&, const auto&) { return g; },
    [](const auto& g, const auto& x1, const auto& x2, const auto& y) { return divisor_slope(g, x1, x2, y); });

extern const Op op_floor_mod = elementwise_binary<elementwise::Domain::Numbers>(
    {.name = "floor_mod",
     .summary = "Remainder with the sign of the divisor.",
     .gradient_doc = "dx1 = sum_to(g, x1), dx2 = sum_to(-g * floor(x1 / x2), x2)",
     .samples = division_samples,
     .rejects = floor_mod_rejects,
     .doc = "The remainder of % in Python and NumPy. Of floats the exact remainder of fmod, with the divisor "
            "added where the "
            "signs differ; NaN for the divisor 0. A zero divisor of integers is a RuntimeError."},
    [](const auto& a, const auto& b) { return floored_remainder(a, b); },
    [](const auto& g, const auto&, const auto&, const auto&) { return g; },
    [](const auto& g, const auto& x1, const auto& x2, const auto& y) { return divisor_slope(g, x1, x2, y); });

}  // namespace relish::ops_division

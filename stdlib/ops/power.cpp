// Power, the angle of a point, and the sum of two numbers given by their logarithms.
#include "stdlib/families/elementwise/binary.h"

namespace relish::ops_power {
namespace {

using binary_family::operand_tensor;

constexpr Sample power_samples[] = {
    {"[2.0, 4.0, 9.0, 2.5], [3.0, 0.5, -0.5, 2.5]"},
    {"[[2.0, 3.0], [0.5, 1.5]], [2.0, -1.0]"},
    {"[2.0, 3.0], [[2.0], [0.5]]"},
    {"rand((0, 3), \"float32\") + 0.5, rand((1,), \"float32\")"},
    {"rand((2, 1, 2), \"float64\") + 0.5, rand((3, 1), \"float64\") * 2.0"},
    {"rand((4,), \"float32\") + 0.5, R.const(2.0, \"float32\")"},
};
constexpr Sample atan2_samples[] = {
    {"[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -2.0]"},
    {"[[1.0, 2.0], [-3.0, 4.0]], [2.0, -1.0]"},
    {"[1.0, -2.0], [[3.0], [0.5]]"},
    {"rand((0, 3), \"float32\") + 0.5, rand((1,), \"float32\")"},
    {"rand((2, 1, 2), \"float64\") + 0.5, rand((3, 1), \"float64\") - 1.5"},
    {"rand((4,), \"float32\") + 0.5, R.const(2.0, \"float32\")"},
};
constexpr Sample log_add_exp_samples[] = {
    {"[0.0, 1.0, -2.0, 3.0], [0.0, 2.0, -2.0, -5.0]"},
    {"[[1.0, 2.0], [-3.0, 4.0]], [2.0, -1.0]"},
    {"[1.0, -2.0], [[3.0], [0.5]]"},
    {"[1000.0, -1000.0], [999.0, -1001.0]", "[1000.3132616875182, -999.6867383124818]", false},
    {"rand((0, 3), \"float32\"), rand((1,), \"float32\")"},
    {"rand((2, 1, 2), \"float64\"), rand((3, 1), \"float64\") - 1.5"},
    {"rand((4,), \"float32\"), R.const(2.0, \"float32\")"},
};
#define RELISH_PAIR_REJECTS(name)                                                                        \
  constexpr Reject name##_rejects[] = {                                                                  \
      {#name ".shape", "rand((2,), \"float32\"), rand((3,), \"float32\")", "do not broadcast"},          \
      {#name ".dtype", "rand((2,), \"float32\"), rand((2,), \"float64\")", "expected the same"},         \
      {#name ".dtype", "R.const([1], \"int32\"), R.const([2], \"int32\")", "expected a floating dtype"}, \
      {#name ".operands", "1.5, 2.5", "at least one tensor"}}
RELISH_PAIR_REJECTS(power);
RELISH_PAIR_REJECTS(atan2);
RELISH_PAIR_REJECTS(log_add_exp);
#undef RELISH_PAIR_REJECTS

// x1^(x2 - 1) * x2, which is 0 for the exponent 0 whatever x1 is.
GraphValue base_slope(const GraphValue& g, const GraphValue& x1, const GraphValue& exponent) {
  const GraphValue x2 = operand_tensor(exponent, x1), one = constant_like(x1, 1);
  const GraphValue constant = call_op("equal", {x2, constant_like(x1, 0)});
  return g * x2 * call_op("power", {x1, where(constant, one, x2 - one)});
}
// y * ln x1; at the base 0 the limit 0 for exponents that are not negative, instead of 0 * -inf.
GraphValue exponent_slope(const GraphValue& g, const GraphValue& base, const GraphValue& x2,
                          const GraphValue& y) {
  const GraphValue x1 = operand_tensor(base, x2), none = constant_like(x2, 0);
  const GraphValue limit =
      call_op("logical_and", {call_op("equal", {x1, none}), call_op("greater_equal", {x2, none})});
  return g * y * call_op("log", {where(limit, constant_like(x2, 1), x1)});
}

// g * x2 / (x1 * x1 + x2 * x2), or -g * x1 / (…), with r the smaller operand divided by the larger one: the
// squares of the operands themselves would overflow, or vanish. Where both are 0 there is no angle, and no
// slope.
GraphValue angle_slope(const GraphValue& g, const GraphValue& x1, const GraphValue& x2, bool of_first) {
  const GraphValue first = operand_tensor(x1, g), second = operand_tensor(x2, g), one = constant_like(g, 1);
  const GraphValue steep = call_op("greater", {call_op("abs", {first}), call_op("abs", {second})});
  steep.leaf();
  const GraphValue longer = where(steep, first, second);
  longer.leaf();
  const GraphValue nothing = call_op("equal", {longer, constant_like(g, 0)});
  nothing.leaf();
  const GraphValue larger = where(nothing, one, longer);
  larger.leaf();
  const GraphValue r = where(steep, second, first) / larger;
  r.leaf();
  const GraphValue share = of_first ? where(steep, r, one) : -where(steep, one, r);
  return where(nothing, constant_like(g, 0), g) * share / (larger * (one + r * r));
}

}  // namespace

extern const Op op_power = elementwise_binary<elementwise::Domain::Floats>(
    {.name = "power",
     .summary = "x1 to the power of x2.",
     .gradient_doc = "dx1 = sum_to(g * x2 * x1^(x2 - 1), x1), dx2 = sum_to(g * y * log(x1), x2)",
     .agreement = Agreement::Elementary,
     .samples = power_samples,
     .rejects = power_rejects,
     .doc =
         "Also written x1 ** x2. Floating dtypes only. The power 0 is 1 whatever the base; of a negative "
         "base and an "
         "exponent that is not integral it is NaN. The gradient for the base is 0 where the exponent is 0, "
         "that for "
         "the exponent is 0 where the base is 0 and the exponent not negative, and NaN for negative bases."},
    [](const auto& a, const auto& b) { return pow(a, b); },
    [](const auto& g, const auto& x1, const auto& x2, const auto&) { return base_slope(g, x1, x2); },
    [](const auto& g, const auto& x1, const auto& x2, const auto& y) {
      return exponent_slope(g, x1, x2, y);
    });

extern const Op op_atan2 = elementwise_binary<elementwise::Domain::Floats>(
    {.name = "atan2",
     .summary = "Angle of the point (x2, x1) in (-pi, pi].",
     .gradient_doc =
         "dx1 = sum_to(g * x2 / (x1 * x1 + x2 * x2), x1), dx2 = sum_to(-g * x1 / (x1 * x1 + x2 * x2), x2); 0 where both are "
         "0",
     .agreement = Agreement::Elementary,
     .samples = atan2_samples,
     .rejects = atan2_rejects,
     .doc = "Floating dtypes only; zeros count with their signs."},
    [](const auto& a, const auto& b) { return atan2(a, b); },
    [](const auto& g, const auto& x1, const auto& x2, const auto&) { return angle_slope(g, x1, x2, true); },
    [](const auto& g, const auto& x1, const auto& x2, const auto&) { return angle_slope(g, x1, x2, false); });

extern const Op op_log_add_exp = elementwise_binary<elementwise::Domain::Floats>(
    {.name = "log_add_exp",
     .summary = "log(e^x1 + e^x2).",
     .gradient_doc = "dx1 = sum_to(g * sigmoid(x1 - x2), x1), dx2 = sum_to(g * sigmoid(x2 - x1), x2)",
     .agreement = Agreement::Composite,
     .samples = log_add_exp_samples,
     .rejects = log_add_exp_rejects,
     .doc = "Floating dtypes only. Computed as the larger operand plus log1p of e to the minus distance, so "
            "that nothing "
            "overflows; TVM computes it as written. Two infinities of one sign give that infinity."},
    [](const auto& a, const auto& b) {
      const auto larger = maximum_ieee(a, b);
      const auto distance = choose(equal(a, b), constant_like(a, 0), magnitude(a - b));
      return larger + log1p(exp(negate(distance)));
    },
    [](const auto& g, const auto& x1, const auto& x2, const auto&) {
      return g * call_op("sigmoid", {x1 - x2});
    },
    [](const auto& g, const auto& x1, const auto& x2, const auto&) {
      return g * call_op("sigmoid", {x2 - x1});
    });

}  // namespace relish::ops_power

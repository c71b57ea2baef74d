// Rounding to integral values, and the sign.
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_rounding {
namespace {

constexpr Sample rounding_samples[] = {
    {"[1.75, -1.75, 0.25, -0.25, 3.0]", "", false},
    {"R.const([-128, 5, 127], \"int8\")", "[-128, 5, 127]", false},
    {"rand((2, 3, 4), \"float64\") * 9.0 - 4.5", "", false},
    {"rand((0, 3), \"float32\")", "", false},
    {"rand((), \"float32\")", "", false},
    {"rand((17,), \"float32\") * 20.0", "", false},
};
constexpr Sample sign_samples[] = {
    {"[1.75, -0.5, 0.0, -0.0]", "[1.0, -1.0, 0.0, 0.0]", false},
    {"R.const([-128, 0, 127], \"int8\")", "[-1, 0, 1]", false},
    {"R.const([0, 200], \"uint8\")", "[0, 1]", false},
    {"rand((2, 3, 4), \"float64\") - 0.5", "", false},
    {"rand((0, 3), \"float32\")", "", false},
    {"rand((), \"float32\")", "", false},
};
#define RELISH_NUMBER_REJECTS(name) \
  constexpr Reject name##_rejects[] = {{#name ".dtype", "R.const([True], \"bool\")", "expected numbers"}}
RELISH_NUMBER_REJECTS(floor);
RELISH_NUMBER_REJECTS(ceil);
RELISH_NUMBER_REJECTS(round);
RELISH_NUMBER_REJECTS(trunc);
RELISH_NUMBER_REJECTS(sign);
#undef RELISH_NUMBER_REJECTS
constexpr std::string_view steps = "the result is constant between its steps";

}  // namespace

extern const Op op_floor = flat_unary<elementwise::Domain::Numbers>(
    {.name = "floor",
     .summary = "Largest integral value that is not above each element.",
     .no_gradient = steps,
     .samples = rounding_samples,
     .rejects = floor_rejects,
     .doc = "The dtype is kept; integers are as they were."},
    [](const auto& x) { return round_down(x); });

extern const Op op_ceil = flat_unary<elementwise::Domain::Numbers>(
    {.name = "ceil",
     .summary = "Smallest integral value that is not below each element.",
     .no_gradient = steps,
     .samples = rounding_samples,
     .rejects = ceil_rejects,
     .doc = "The dtype is kept; integers are as they were."},
    [](const auto& x) { return round_up(x); });

extern const Op op_round =
    flat_unary<elementwise::Domain::Numbers>({.name = "round",
                                              .summary = "Nearest integral value; halves go to the even one.",
                                              .no_gradient = steps,
                                              .samples = rounding_samples,
                                              .rejects = round_rejects,
                                              .doc = "The dtype is kept; integers are as they were."},
                                             [](const auto& x) { return round_even(x); });

extern const Op op_trunc =
    flat_unary<elementwise::Domain::Numbers>({.name = "trunc",
                                              .summary = "Each element without its fraction.",
                                              .no_gradient = steps,
                                              .samples = rounding_samples,
                                              .rejects = trunc_rejects,
                                              .doc = "The dtype is kept; integers are as they were."},
                                             [](const auto& x) { return round_to_zero(x); });

extern const Op op_sign = flat_unary<elementwise::Domain::Numbers>(
    {.name = "sign",
     .summary = "1, -1 or 0 as the element is positive, negative or 0.",
     .no_gradient = steps,
     .samples = sign_samples,
     .rejects = sign_rejects,
     .doc = "Of NaN it is NaN, of both zeros +0."},
    [](const auto& x) {
      const auto none = constant_like(x, 0), one = constant_like(x, 1);
      return choose(x > none, one, choose(x < none, none - one, choose(equal(x, x), none, x)));
    });

}  // namespace relish::ops_rounding

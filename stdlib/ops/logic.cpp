// Logic: what is not 0 is true.
#include "stdlib/families/elementwise/binary.h"
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_logic {
namespace {

constexpr std::string_view truth_doc =
    "Shapes broadcast; both operands have the same dtype, and so has the result: 1 for true, 0 for false.";
constexpr std::string_view no_slope = "the result is a truth value";

constexpr Sample pair_samples[] = {
    {"R.const([True, True, False, False], \"bool\"), R.const([True, False, True, False], \"bool\")", "",
     false},
    {"R.const([[True], [False]], \"bool\"), R.const([True, False], \"bool\")", "", false},
    {"R.const([0, 2, -1], \"int32\"), R.const([3, 0, 4], \"int32\")", "", false},
    {"[0.0, 0.5, -2.0], [[1.0], [0.0]]", "", false},
    {"rand((0, 2), \"float32\"), rand((2,), \"float32\")", "", false},
    {"R.const(True, \"bool\"), R.const([[False, True]], \"bool\")", "", false},
};
constexpr Sample logical_not_samples[] = {
    {"R.const([True, False], \"bool\")", "[0, 1]", false},
    {"R.const([0, 2, -1], \"int32\")", "[1, 0, 0]", false},
    {"[0.0, 0.5]", "[1.0, 0.0]", false},
    {"rand((0, 2), \"float32\")", "", false},
    {"R.const(False, \"bool\")", "1", false},
};
constexpr Reject logical_not_rejects[] = {{"logical_not.tensor", "R.shape([2])", "expected a tensor"}};
#define RELISH_PAIR_REJECTS(name)                                                                \
  constexpr Reject name##_rejects[] = {                                                          \
      {#name ".shape", "rand((2,), \"float32\"), rand((3,), \"float32\")", "do not broadcast"},  \
      {#name ".dtype", "rand((2,), \"float32\"), rand((2,), \"float64\")", "expected the same"}, \
      {#name ".operands", "R.prim_value(1), R.prim_value(2)", "at least one tensor"}}
RELISH_PAIR_REJECTS(logical_and);
RELISH_PAIR_REJECTS(logical_or);
RELISH_PAIR_REJECTS(logical_xor);
#undef RELISH_PAIR_REJECTS

}  // namespace

extern const Op op_logical_not =
    flat_unary<elementwise::Domain::All>({.name = "logical_not",
                                          .summary = "Whether each element is 0.",
                                          .no_gradient = no_slope,
                                          .samples = logical_not_samples,
                                          .rejects = logical_not_rejects,
                                          .doc = "The dtype is kept: 1 where the element is 0, else 0."},
                                         [](const auto& x) { return number_of(opposite(truth(x)), x); });

extern const Op op_logical_and = flat_binary<elementwise::Domain::All>(
    {.name = "logical_and",
     .summary = "Whether both elements are true.",
     .no_gradient = no_slope,
     .samples = pair_samples,
     .rejects = logical_and_rejects,
     .doc = truth_doc},
    [](const auto& a, const auto& b) { return number_of(both(truth(a), truth(b)), a); });

extern const Op op_logical_or = flat_binary<elementwise::Domain::All>(
    {.name = "logical_or",
     .summary = "Whether at least one of two elements is true.",
     .no_gradient = no_slope,
     .samples = pair_samples,
     .rejects = logical_or_rejects,
     .doc = truth_doc},
    [](const auto& a, const auto& b) { return number_of(either(truth(a), truth(b)), a); });

extern const Op op_logical_xor = flat_binary<elementwise::Domain::All>(
    {.name = "logical_xor",
     .summary = "Whether exactly one of two elements is true.",
     .no_gradient = no_slope,
     .samples = pair_samples,
     .rejects = logical_xor_rejects,
     .doc = truth_doc},
    [](const auto& a, const auto& b) { return number_of(differ(truth(a), truth(b)), a); });

}  // namespace relish::ops_logic

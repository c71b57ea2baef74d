// The six comparisons.
#include "stdlib/families/elementwise/binary.h"

namespace relish::ops_comparison {
namespace {

constexpr std::string_view comparison_doc =
    "Shapes broadcast; both operands have the same dtype. A comparison with NaN is false, not_equal is true. "
    "There is no "
    "gradient.";

constexpr Sample equal_samples[] = {{"[1.0, 2.0, 3.0], [1.0, 5.0, 3.0]", "[1, 0, 1]", false},
                                    {"[[1.0], [2.0]], [1.0, 2.0]", "[[1, 0], [0, 1]]", false}};
constexpr Sample not_equal_samples[] = {{"[1.0, 2.0, 3.0], [1.0, 5.0, 3.0]", "[0, 1, 0]", false},
                                        {"[[1.0], [2.0]], [1.0, 2.0]", "[[0, 1], [1, 0]]", false}};
constexpr Sample less_samples[] = {{"[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]", "[1, 0, 0]", false},
                                   {"[[1.0], [2.0]], [1.0, 2.0]", "[[0, 1], [0, 0]]", false}};
constexpr Sample less_equal_samples[] = {{"[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]", "[1, 1, 0]", false},
                                         {"[[1.0], [2.0]], [1.0, 2.0]", "[[1, 1], [0, 1]]", false}};
constexpr Sample greater_samples[] = {{"[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]", "[0, 0, 1]", false},
                                      {"[[1.0], [2.0]], [1.0, 2.0]", "[[0, 0], [1, 0]]", false}};
constexpr Sample greater_equal_samples[] = {{"[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]", "[0, 1, 1]", false},
                                            {"[[1.0], [2.0]], [1.0, 2.0]", "[[1, 0], [1, 1]]", false}};

#define RELISH_COMPARISON_REJECTS(name)                                                          \
  constexpr Reject name##_rejects[] = {                                                          \
      {#name ".shape", "rand((2,), \"float32\"), rand((3,), \"float32\")", "do not broadcast"},  \
      {#name ".dtype", "rand((2,), \"float32\"), rand((2,), \"float64\")", "expected the same"}, \
      {#name ".operands", "R.prim_value(1), R.prim_value(2)", "at least one tensor"}}
RELISH_COMPARISON_REJECTS(equal);
RELISH_COMPARISON_REJECTS(not_equal);
RELISH_COMPARISON_REJECTS(less);
RELISH_COMPARISON_REJECTS(less_equal);
RELISH_COMPARISON_REJECTS(greater);
RELISH_COMPARISON_REJECTS(greater_equal);
#undef RELISH_COMPARISON_REJECTS

}  // namespace

extern const Op op_equal = comparison({.name = "equal",
                                       .summary = "Whether elements are equal.",
                                       .samples = equal_samples,
                                       .rejects = equal_rejects,
                                       .doc = comparison_doc},
                                      [](const auto& a, const auto& b) { return equal(a, b); });
extern const Op op_not_equal = comparison({.name = "not_equal",
                                           .summary = "Whether elements differ.",
                                           .samples = not_equal_samples,
                                           .rejects = not_equal_rejects,
                                           .doc = comparison_doc},
                                          [](const auto& a, const auto& b) { return not_equal(a, b); });
extern const Op op_less = comparison({.name = "less",
                                      .summary = "Whether x1 is less than x2.",
                                      .samples = less_samples,
                                      .rejects = less_rejects,
                                      .doc = comparison_doc},
                                     [](const auto& a, const auto& b) { return a < b; });
extern const Op op_less_equal = comparison({.name = "less_equal",
                                            .summary = "Whether x1 is at most x2.",
                                            .samples = less_equal_samples,
                                            .rejects = less_equal_rejects,
                                            .doc = comparison_doc},
                                           [](const auto& a, const auto& b) { return a <= b; });
extern const Op op_greater = comparison({.name = "greater",
                                         .summary = "Whether x1 is greater than x2.",
                                         .samples = greater_samples,
                                         .rejects = greater_rejects,
                                         .doc = comparison_doc},
                                        [](const auto& a, const auto& b) { return a > b; });
extern const Op op_greater_equal = comparison({.name = "greater_equal",
                                               .summary = "Whether x1 is at least x2.",
                                               .samples = greater_equal_samples,
                                               .rejects = greater_equal_rejects,
                                               .doc = comparison_doc},
                                              [](const auto& a, const auto& b) { return a >= b; });

}  // namespace relish::ops_comparison

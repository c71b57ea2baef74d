// The tensor itself under another name.
#include "stdlib/families/elementwise/identity.h"

namespace relish::ops_copy {
namespace {

constexpr Param params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"}};
constexpr Sample samples[] = {
    {"[1.0, 2.0]", "[1.0, 2.0]"},         {"R.const([[1], [2]], \"int32\")", "[[1], [2]]"},
    {"R.const(3.5, \"float64\")", "3.5"}, {"rand((0, 3), \"float64\")", "rand((0, 3), \"float64\")"},
    {"[True, False]", "[True, False]"},
};
constexpr Reject rejects[] = {{"copy.tensor", "R.shape([2])", "expected a tensor"}};
constexpr std::string_view aliases[] = {"identity"};

}  // namespace

extern const Op op_copy = identity_of_tensor({.name = "copy",
                                              .summary = "The tensor as it is.",
                                              .params = params,
                                              .samples = samples,
                                              .rejects = rejects,
                                              .aliases = aliases,
                                              .doc = "An operator of Relay in 2019; in TVM's Relax it is the "
                                                     "binding y = x."});

}  // namespace relish::ops_copy

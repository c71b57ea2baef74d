// Root-mean-square normalization.
#include "stdlib/families/reductions/normalization.h"

namespace relish::ops_nn_rms_norm {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"weight", ParamKind::Tensor, "tensor", "", "factors, with the dimensions of the data along the axes"},
    {"axes", ParamKind::Attribute, "int or list[int]", "-1", "axes of one group, in any order"},
    {"epsilon", ParamKind::Attribute, "float", "1e-05", "added to the mean square"}};

Normalization norm_of(const CallView& call, int rank) {
  Normalization n;
  n.axes = axes_of(call, "axes", rank);
  n.weighted = n.axes;
  n.epsilon = normalization::epsilon_of(call);
  n.centred = false;
  n.gamma = 1;
  return n;
}

constexpr Sample samples[] = {
    {"[[1.0, 7.0], [2.0, -2.0]], [1.0, 2.0], epsilon=0.0", "[[0.2, 2.8], [1.0, -2.0]]"},
    {"rand((2, 3, 4), \"float64\"), rand((4,), \"float64\")"},
    {"rand((2, 3, 4), \"float64\"), rand((3, 4), \"float64\"), axes=[-1, -2], epsilon=0.1"},
    {"rand((2, 3, 4), \"float32\"), rand((2, 4), \"float32\"), axes=[0, 2]"},
    {"rand((0, 3), \"float32\"), rand((3,), \"float32\")"},
    {"rand((5, 1), \"float32\") + 0.5, rand((1,), \"float32\")"},
};
constexpr Reject rejects[] = {
    {"rms_norm.shape", "rand((2, 3), \"float32\"), rand((2,), \"float32\")", "expected the shape (3,)"},
    {"rms_norm.axis", "rand((2, 3), \"float32\"), rand((3,), \"float32\"), axes=2", "out of range"},
    {"rms_norm.dtype", "rand((2, 3), \"float32\"), rand((3,), \"float64\")", "expected the same"},
    {"rms_norm.epsilon", "rand((2, 3), \"float32\"), rand((3,), \"float32\"), epsilon=-0.5",
     "epsilon is -0.5"},
};

}  // namespace

extern const Op op_nn_rms_norm = normalization::norm_along_axes<norm_of, 1>(
    {.name = "nn.rms_norm",
     .summary = "Mean square 1 over axes, then a factor for each place on them.",
     .params = params,
     .gradient_doc =
         "with s = 1 / sqrt(mean(x * x) + epsilon), n = x * s and h = g * weight: ddata = s * (h - n "
         "* mean(h * n)), dweight = sum(g * n)",
     .samples = samples,
     .rejects = rejects,
     .doc = "weight * x / sqrt(mean(x * x) + epsilon). The dimensions of the weight are those of the axes in "
            "ascending order."});

}  // namespace relish::ops_nn_rms_norm

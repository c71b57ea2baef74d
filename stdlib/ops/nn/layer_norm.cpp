// Layer normalization.
#include "stdlib/families/reductions/normalization.h"

namespace relish::ops_nn_layer_norm {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"gamma", ParamKind::Tensor, "tensor", "", "factors, with the dimensions of the data along the axes"},
    {"beta", ParamKind::Tensor, "tensor", "", "what is added, of the same shape"},
    {"axes", ParamKind::Attribute, "int or list[int]", "", "axes of one group, in any order"},
    {"epsilon", ParamKind::Attribute, "float", "1e-05", "added to the variance"},
    {"center", ParamKind::Attribute, "bool", "True", "whether beta is added"},
    {"scale", ParamKind::Attribute, "bool", "True", "whether gamma multiplies"}};

Normalization norm_of(const CallView& call, int rank) {
  Normalization n;
  n.axes = axes_of(call, "axes", rank);
  n.weighted = n.axes;
  n.epsilon = normalization::epsilon_of(call);
  if (normalization::flag(call, "scale")) n.gamma = 1;
  if (normalization::flag(call, "center")) n.beta = 2;
  return n;
}

constexpr Sample samples[] = {
    {"[[1.0, 3.0], [2.0, -2.0]], [1.0, 2.0], [0.5, 0.0], axes=-1, epsilon=0.0", "[[-0.5, 2.0], [1.5, -2.0]]"},
    {"[[1.0, 3.0], [2.0, -2.0]], [7.0, 7.0], [0.5, 0.0], axes=[1], epsilon=0.0, scale=False",
     "[[-0.5, 1.0], [1.5, -1.0]]"},
    {"[[1.0, 3.0], [2.0, -2.0]], [1.0, 2.0], [7.0, 7.0], axes=[1], epsilon=0.0, center=False",
     "[[-1.0, 2.0], [1.0, -2.0]]"},
    {"rand((2, 3, 4), \"float64\"), rand((3, 4), \"float64\"), rand((3, 4), \"float64\"), axes=[-2, -1]"},
    {"rand((2, 3, 4), \"float64\"), rand((2, 4), \"float64\"), rand((2, 4), \"float64\"), axes=[2, 0], "
     "epsilon=0.1"},
    {"rand((2, 5), \"float32\"), rand((5,), \"float32\"), rand((5,), \"float32\"), axes=1, epsilon=0.1, "
     "center=False, scale=False"},
    {"rand((0, 3), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), axes=[1]"},
    {"rand((5, 1), \"float32\"), rand((1,), \"float32\"), rand((1,), \"float32\"), axes=[1]"},
};
constexpr Reject rejects[] = {
    {"layer_norm.shape",
     "rand((2, 3), \"float32\"), rand((2,), \"float32\"), rand((3,), \"float32\"), axes=[-1]",
     "expected the shape (3,)"},
    {"layer_norm.axis",
     "rand((2, 3), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), axes=[2]", "out of range"},
    {"layer_norm.dtype",
     "rand((2, 3), \"float32\"), rand((3,), \"float64\"), rand((3,), \"float32\"), axes=[1]",
     "expected the same"},
    {"layer_norm.dtype", "[[1, 2]], [1, 2], [1, 2], axes=[1]", "expected a floating dtype"},
    {"layer_norm.epsilon",
     "rand((2, 3), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), axes=[1], epsilon=-1.0",
     "epsilon is -1"},
};

}  // namespace

extern const Op op_nn_layer_norm = normalization::norm_along_axes<norm_of, 2>(
    {.name = "nn.layer_norm",
     .summary = "Mean 0 and variance 1 over axes, then a factor and a term for each place on them.",
     .params = params,
     .gradient_doc =
         "with n the normalized data, s = 1 / sqrt(variance + epsilon) and h = g * gamma: ddata = s * "
         "(h - mean(h) - n * mean(h * n)), dgamma = sum(g * n), dbeta = sum(g)",
     .samples = samples,
     .rejects = rejects,
     .doc =
         "gamma * (x - mean) / sqrt(variance + epsilon) + beta, with the population variance. The dimensions "
         "of gamma and beta are those of the axes in ascending order. center=False leaves out beta and "
         "scale=False gamma, whose gradient is then 0; TVM's lowering ignores both flags."});

}  // namespace relish::ops_nn_layer_norm

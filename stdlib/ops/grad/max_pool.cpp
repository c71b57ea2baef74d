// The gradients of maximum pools.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/pooling.h"

namespace relish::ops_grad_max_pool {
namespace {

template <int rank>
constexpr auto params = pooling::params_of<rank>(pooling::gradient_tensors, "False");

constexpr std::string_view gradient_doc = "doutput_grad = grad.max_pool_select(g, data)";
constexpr std::string_view doc =
    "Each element of output_grad is added to the first largest cell of its window (the first NaN, when there "
    "is one). Every dilation is supported.";

constexpr Sample samples_1d[] = {
    {"[[[10.0, 20.0]]], [[[1.0, 4.0, 2.0]]], pool_size=2", "[[[0.0, 30.0, 0.0]]]"},
    {"rand((1, 1, 6), \"float32\"), [[[-1.0, 1.0, -0.5, 1.5, 0.0, -1.5, 0.5]]], pool_size=2"},
    {"rand((1, 1, 4), \"float32\"), [[[-1.0, -1.5, -0.5, 1.0, 1.5, 0.5, 0.0]]], pool_size=3, strides=2, "
     "padding=1"},
    {"rand((1, 1, 3), \"float32\"), [[[1.5, -1.0, -1.5, 1.0, 0.5, -0.5, 0.0]]], pool_size=[2], strides=[3], "
     "padding=[1, 0], dilation=2, ceil_mode=True"},
    {"rand((0, 2, 7), \"float32\"), rand((0, 2, 7), \"float32\")"},
    {"rand((1, 1, 1), \"float64\"), rand((1, 1, 1), \"float64\")"},
};
constexpr Reject rejects_1d[] = {
    {"max_pool1d_backward.shape", "rand((1, 1, 7), \"float32\"), rand((1, 1, 7), \"float32\"), pool_size=2",
     "expected (1, 1, 6"},
    {"max_pool1d_backward.dtype", "rand((1, 1, 7), \"float32\"), rand((1, 1, 7), \"float64\")",
     "expected the same"},
};

constexpr Sample samples_2d[] = {
    {"[[[[10.0]]]], [[[[3.0, 4.0], [4.0, 4.0]]]], pool_size=2", "[[[[0.0, 10.0], [0.0, 0.0]]]]", false},
    {"rand((1, 1, 4, 3), \"float32\"), [[[[-0.5, 1.0, 2.0, 3.0], [4.0, 3.5, 4.5, -1.5], [2.5, -4.0, 0.5, "
     "-4.5], [1.5, -2.0, -5.0, -2.5], [0.0, -3.5, -1.0, -3.0]]]], pool_size=2"},
    {"rand((1, 1, 3, 3), \"float32\"), [[[[-3.0, -4.5, 0.5, 3.0], [4.5, -5.0, -2.0, 2.0], [0.0, -4.0, -1.0, "
     "-1.5], [1.0, -3.5, 3.5, 2.5], [-0.5, 4.0, 1.5, -2.5]]]], pool_size=[3, 2], strides=2, padding=1"},
    {"rand((1, 1, 3, 2), \"float32\"), [[[[-2.0, -1.0, 1.0, -0.5], [4.0, -4.0, 3.5, 4.5], [-3.5, 1.5, 2.5, "
     "0.0], [3.0, -4.5, 0.5, -2.5], [2.0, -5.0, -1.5, -3.0]]]], pool_size=2, strides=[2, 3], padding=[1, 0, "
     "0, 1], dilation=[2, 1], ceil_mode=True"},
    {"rand((0, 2, 5, 4), \"float32\"), rand((0, 2, 5, 4), \"float32\")"},
    {"rand((1, 1, 1, 1), \"float64\"), rand((1, 1, 1, 1), \"float64\")"},
    {"rand((1, 1, 1, 2), \"float32\"), [[[[1.0, 0.0], [-1.5, 2.5], [-3.0, 2.0]], [[-2.5, -2.0], [-1.0, "
     "-0.5], [1.5, 0.5]]]], pool_size=None, layout=\"NHWC\""},
};
constexpr Reject rejects_2d[] = {
    {"max_pool2d_backward.shape",
     "rand((1, 1, 5, 4), \"float32\"), rand((1, 1, 5, 4), \"float32\"), pool_size=2", "expected (1, 1, 4"},
    {"max_pool2d_backward.dtype", "rand((1, 1, 5, 4), \"float32\"), rand((1, 1, 5, 4), \"float64\")",
     "expected the same"},
};

constexpr Sample samples_3d[] = {
    {"[[[[[8.0]]]]], [[[[[3.0, 4.0], [2.0, 1.0]]]]], pool_size=[1, 2, 2]", "[[[[[0.0, 8.0], [0.0, 0.0]]]]]"},
    {"rand((1, 1, 3, 2, 2), \"float32\"), [[[[[-4.0, 7.0, 1.5], [8.5, 0.5, -1.5], [3.0, -0.5, 4.0]], [[-4.5, "
     "-7.5, 4.5], [-6.0, 6.0, -5.0], [-3.5, 5.0, 2.0]], [[-6.5, 3.5, 2.5], [-5.5, 6.5, -9.0], [-2.0, -8.0, "
     "-7.0]], [[1.0, 5.5, -3.0], [7.5, -1.0, -2.5], [-8.5, 0.0, 8.0]]]]], pool_size=2"},
    {"rand((1, 1, 2, 1, 2), \"float32\"), [[[[[-1.5, -4.0, 0.5], [-5.0, 0.0, -8.0], [-3.5, -1.0, -6.5]], "
     "[[-6.0, 8.5, -3.0], [1.0, 6.5, 4.5], [-2.5, -2.0, 4.0]], [[7.0, 3.0, 8.0], [5.5, 2.5, 5.0], [2.0, 7.5, "
     "-0.5]], [[-7.5, -7.0, -8.5], [1.5, -4.5, 3.5], [-5.5, 6.0, -9.0]]]]], pool_size=[3, 2, 1], strides=2, "
     "padding=[1, 0, 0]"},
    {"rand((1, 1, 3, 1, 2), \"float32\"), [[[[[-5.0, 7.5, -6.0], [5.0, -6.5, 1.0], [-8.0, 2.0, -2.0]], "
     "[[8.0, 1.5, 4.0], [-3.0, 7.0, -5.5], [0.0, 8.5, -0.5]], [[5.5, -3.5, 6.0], [3.0, 4.5, 3.5], [-1.0, "
     "-4.0, -7.5]], [[-8.5, 2.5, -9.0], [6.5, -1.5, 0.5], [-4.5, -2.5, -7.0]]]]], pool_size=2, strides=[2, "
     "3, 2], padding=[1, 0, 1, 0, 1, 0], ceil_mode=True"},
    {"rand((0, 2, 4, 3, 3), \"float32\"), rand((0, 2, 4, 3, 3), \"float32\")"},
    {"rand((1, 1, 1, 1, 1), \"float64\"), rand((1, 1, 1, 1, 1), \"float64\")"},
};
constexpr Reject rejects_3d[] = {
    {"max_pool3d_backward.shape",
     "rand((1, 1, 4, 3, 3), \"float32\"), rand((1, 1, 4, 3, 3), \"float32\"), pool_size=2",
     "expected (1, 1, 3"},
    {"max_pool3d_backward.dtype", "rand((1, 1, 4, 3, 3), \"float32\"), rand((1, 1, 4, 3, 3), \"float64\")",
     "expected the same"},
};

// What all ranks share.
template <int rank>
constexpr Op maximum_pool_backward(Op op) {
  op.params = params<rank>;
  op.gradient_doc = gradient_doc;
  op.agreement = Agreement::Composite;
  op.written_order = pooling::written_order;
  op.doc = doc;
  return member_of<pooling::Member{pooling::Kind::MaxBackward, rank}>(op);
}

}  // namespace

extern const Op op_grad_max_pool1d_backward =
    maximum_pool_backward<1>({.name = "grad.max_pool1d_backward",
                              .summary = "Gradient of nn.max_pool1d for its data.",
                              .samples = samples_1d,
                              .rejects = rejects_1d});

extern const Op op_grad_max_pool2d_backward =
    maximum_pool_backward<2>({.name = "grad.max_pool2d_backward",
                              .summary = "Gradient of nn.max_pool2d for its data.",
                              .samples = samples_2d,
                              .rejects = rejects_2d});

extern const Op op_grad_max_pool3d_backward =
    maximum_pool_backward<3>({.name = "grad.max_pool3d_backward",
                              .summary = "Gradient of nn.max_pool3d for its data.",
                              .samples = samples_3d,
                              .rejects = rejects_3d});

}  // namespace relish::ops_grad_max_pool

// The gradients of average and maximum pools.
#include "stdlib/families/windows/pooling.h"

namespace relish::ops_grad_pool {
namespace {

constexpr std::string_view average_gradient = "doutput_grad = nn.avg_pool(g)";
constexpr std::string_view average_doc =
    "Each element of output_grad, divided as the pool divides, is added to all cells of its window. Of data "
    "only the shape matters.";
constexpr std::string_view maximum_gradient = "doutput_grad = grad.max_pool_select(g, data)";
constexpr std::string_view maximum_doc =
    "Each element of output_grad is added to the first largest cell of its window (the first NaN, when there "
    "is one). Every dilation is supported.";

// The first sample shows what the two do with one input; the others are the same for both.
constexpr auto samples_1d(std::string_view result) {
  return std::to_array<Sample>({
      {"[[[10.0, 20.0]]], [[[1.0, 4.0, 2.0]]], pool_size=2", result},
      {"rand((1, 1, 6), \"float32\"), [[[-1.0, 1.0, -0.5, 1.5, 0.0, -1.5, 0.5]]], pool_size=2"},
      {"rand((1, 1, 4), \"float32\"), [[[-1.0, -1.5, -0.5, 1.0, 1.5, 0.5, 0.0]]], pool_size=3, strides=2, "
       "padding=1"},
      {"rand((1, 1, 3), \"float32\"), [[[1.5, -1.0, -1.5, 1.0, 0.5, -0.5, 0.0]]], pool_size=[2], "
       "strides=[3], "
       "padding=[1, 0], dilation=2, ceil_mode=True"},
      {"rand((0, 2, 7), \"float32\"), rand((0, 2, 7), \"float32\")"},
      {"rand((1, 1, 1), \"float64\"), rand((1, 1, 1), \"float64\")"},
  });
}
constexpr auto average_samples_1d = samples_1d("[[[5.0, 15.0, 10.0]]]");
constexpr auto maximum_samples_1d = samples_1d("[[[0.0, 30.0, 0.0]]]");
constexpr Reject average_rejects_1d[] = {
    {"avg_pool1d_backward.shape", "rand((1, 1, 7), \"float32\"), rand((1, 1, 7), \"float32\"), pool_size=2",
     "expected (1, 1, 6"},
    {"avg_pool1d_backward.dtype", "rand((1, 1, 7), \"float32\"), rand((1, 1, 7), \"float64\")",
     "expected the same"},
};
constexpr Reject maximum_rejects_1d[] = {
    {"max_pool1d_backward.shape", "rand((1, 1, 7), \"float32\"), rand((1, 1, 7), \"float32\"), pool_size=2",
     "expected (1, 1, 6"},
    {"max_pool1d_backward.dtype", "rand((1, 1, 7), \"float32\"), rand((1, 1, 7), \"float64\")",
     "expected the same"},
};

constexpr auto samples_2d(std::string_view result, bool differentiable = true) {
  return std::to_array<Sample>({
      {"[[[[10.0]]]], [[[[3.0, 4.0], [4.0, 4.0]]]], pool_size=2", result, differentiable},
      {"rand((1, 1, 4, 3), \"float32\"), [[[[-0.5, 1.0, 2.0, 3.0], [4.0, 3.5, 4.5, -1.5], [2.5, -4.0, 0.5, "
       "-4.5], [1.5, -2.0, -5.0, -2.5], [0.0, -3.5, -1.0, -3.0]]]], pool_size=2"},
      {"rand((1, 1, 3, 3), \"float32\"), [[[[-3.0, -4.5, 0.5, 3.0], [4.5, -5.0, -2.0, 2.0], [0.0, -4.0, "
       "-1.0, "
       "-1.5], [1.0, -3.5, 3.5, 2.5], [-0.5, 4.0, 1.5, -2.5]]]], pool_size=[3, 2], strides=2, padding=1"},
      {"rand((1, 1, 3, 2), \"float32\"), [[[[-2.0, -1.0, 1.0, -0.5], [4.0, -4.0, 3.5, 4.5], [-3.5, 1.5, 2.5, "
       "0.0], [3.0, -4.5, 0.5, -2.5], [2.0, -5.0, -1.5, -3.0]]]], pool_size=2, strides=[2, 3], padding=[1, "
       "0, "
       "0, 1], dilation=[2, 1], ceil_mode=True"},
      {"rand((0, 2, 5, 4), \"float32\"), rand((0, 2, 5, 4), \"float32\")"},
      {"rand((1, 1, 1, 1), \"float64\"), rand((1, 1, 1, 1), \"float64\")"},
      {"rand((1, 1, 1, 2), \"float32\"), [[[[1.0, 0.0], [-1.5, 2.5], [-3.0, 2.0]], [[-2.5, -2.0], [-1.0, "
       "-0.5], [1.5, 0.5]]]], pool_size=None, layout=\"NHWC\""},
  });
}
constexpr auto average_samples_2d = samples_2d("[[[[2.5, 2.5], [2.5, 2.5]]]]");
constexpr auto maximum_samples_2d = samples_2d("[[[[0.0, 10.0], [0.0, 0.0]]]]", false);
constexpr Reject average_rejects_2d[] = {
    {"avg_pool2d_backward.shape",
     "rand((1, 1, 5, 4), \"float32\"), rand((1, 1, 5, 4), \"float32\"), pool_size=2", "expected (1, 1, 4"},
    {"avg_pool2d_backward.dtype", "rand((1, 1, 5, 4), \"float32\"), rand((1, 1, 5, 4), \"float64\")",
     "expected the same"},
};
constexpr Reject maximum_rejects_2d[] = {
    {"max_pool2d_backward.shape",
     "rand((1, 1, 5, 4), \"float32\"), rand((1, 1, 5, 4), \"float32\"), pool_size=2", "expected (1, 1, 4"},
    {"max_pool2d_backward.dtype", "rand((1, 1, 5, 4), \"float32\"), rand((1, 1, 5, 4), \"float64\")",
     "expected the same"},
};

constexpr auto samples_3d(std::string_view result) {
  return std::to_array<Sample>({
      {"[[[[[8.0]]]]], [[[[[3.0, 4.0], [2.0, 1.0]]]]], pool_size=[1, 2, 2]", result},
      {"rand((1, 1, 3, 2, 2), \"float32\"), [[[[[-4.0, 7.0, 1.5], [8.5, 0.5, -1.5], [3.0, -0.5, 4.0]], "
       "[[-4.5, "
       "-7.5, 4.5], [-6.0, 6.0, -5.0], [-3.5, 5.0, 2.0]], [[-6.5, 3.5, 2.5], [-5.5, 6.5, -9.0], [-2.0, -8.0, "
       "-7.0]], [[1.0, 5.5, -3.0], [7.5, -1.0, -2.5], [-8.5, 0.0, 8.0]]]]], pool_size=2"},
      {"rand((1, 1, 2, 1, 2), \"float32\"), [[[[[-1.5, -4.0, 0.5], [-5.0, 0.0, -8.0], [-3.5, -1.0, -6.5]], "
       "[[-6.0, 8.5, -3.0], [1.0, 6.5, 4.5], [-2.5, -2.0, 4.0]], [[7.0, 3.0, 8.0], [5.5, 2.5, 5.0], [2.0, "
       "7.5, "
       "-0.5]], [[-7.5, -7.0, -8.5], [1.5, -4.5, 3.5], [-5.5, 6.0, -9.0]]]]], pool_size=[3, 2, 1], "
       "strides=2, "
       "padding=[1, 0, 0]"},
      {"rand((1, 1, 3, 1, 2), \"float32\"), [[[[[-5.0, 7.5, -6.0], [5.0, -6.5, 1.0], [-8.0, 2.0, -2.0]], "
       "[[8.0, 1.5, 4.0], [-3.0, 7.0, -5.5], [0.0, 8.5, -0.5]], [[5.5, -3.5, 6.0], [3.0, 4.5, 3.5], [-1.0, "
       "-4.0, -7.5]], [[-8.5, 2.5, -9.0], [6.5, -1.5, 0.5], [-4.5, -2.5, -7.0]]]]], pool_size=2, strides=[2, "
       "3, 2], padding=[1, 0, 1, 0, 1, 0], ceil_mode=True"},
      {"rand((0, 2, 4, 3, 3), \"float32\"), rand((0, 2, 4, 3, 3), \"float32\")"},
      {"rand((1, 1, 1, 1, 1), \"float64\"), rand((1, 1, 1, 1, 1), \"float64\")"},
  });
}
constexpr auto average_samples_3d = samples_3d("[[[[[2.0, 2.0], [2.0, 2.0]]]]]");
constexpr auto maximum_samples_3d = samples_3d("[[[[[0.0, 8.0], [0.0, 0.0]]]]]");
constexpr Reject average_rejects_3d[] = {
    {"avg_pool3d_backward.shape",
     "rand((1, 1, 4, 3, 3), \"float32\"), rand((1, 1, 4, 3, 3), \"float32\"), pool_size=2",
     "expected (1, 1, 3"},
    {"avg_pool3d_backward.dtype", "rand((1, 1, 4, 3, 3), \"float32\"), rand((1, 1, 4, 3, 3), \"float64\")",
     "expected the same"},
};
constexpr Reject maximum_rejects_3d[] = {
    {"max_pool3d_backward.shape",
     "rand((1, 1, 4, 3, 3), \"float32\"), rand((1, 1, 4, 3, 3), \"float32\"), pool_size=2",
     "expected (1, 1, 3"},
    {"max_pool3d_backward.dtype", "rand((1, 1, 4, 3, 3), \"float32\"), rand((1, 1, 4, 3, 3), \"float64\")",
     "expected the same"},
};

template <int rank>
constexpr Op average(Op op) {
  op.gradient_doc = average_gradient;
  op.doc = average_doc;
  return pooling::pool_op<pooling::Member{pooling::Kind::AverageBackward, rank}>(op);
}

template <int rank>
constexpr Op maximum(Op op) {
  op.gradient_doc = maximum_gradient;
  op.doc = maximum_doc;
  return pooling::pool_op<pooling::Member{pooling::Kind::MaxBackward, rank}>(op);
}

}  // namespace

extern const Op op_grad_avg_pool1d_backward =
    average<1>({.name = "grad.avg_pool1d_backward",
                .summary = "Gradient of nn.avg_pool1d for its data.",
                .samples = average_samples_1d,
                .rejects = average_rejects_1d});

extern const Op op_grad_avg_pool2d_backward =
    average<2>({.name = "grad.avg_pool2d_backward",
                .summary = "Gradient of nn.avg_pool2d for its data.",
                .samples = average_samples_2d,
                .rejects = average_rejects_2d});

extern const Op op_grad_avg_pool3d_backward =
    average<3>({.name = "grad.avg_pool3d_backward",
                .summary = "Gradient of nn.avg_pool3d for its data.",
                .samples = average_samples_3d,
                .rejects = average_rejects_3d});

extern const Op op_grad_max_pool1d_backward =
    maximum<1>({.name = "grad.max_pool1d_backward",
                .summary = "Gradient of nn.max_pool1d for its data.",
                .samples = maximum_samples_1d,
                .rejects = maximum_rejects_1d});

extern const Op op_grad_max_pool2d_backward =
    maximum<2>({.name = "grad.max_pool2d_backward",
                .summary = "Gradient of nn.max_pool2d for its data.",
                .samples = maximum_samples_2d,
                .rejects = maximum_rejects_2d});

extern const Op op_grad_max_pool3d_backward =
    maximum<3>({.name = "grad.max_pool3d_backward",
                .summary = "Gradient of nn.max_pool3d for its data.",
                .samples = maximum_samples_3d,
                .rejects = maximum_rejects_3d});

}  // namespace relish::ops_grad_pool

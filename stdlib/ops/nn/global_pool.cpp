// Average and maximum over all of the data, in one, two and three spatial dimensions.
#include "stdlib/families/windows/pooling.h"

namespace relish::ops_nn_global_pool {
namespace {

constexpr std::string_view average_gradient = "ddata = grad.avg_pool_backward(g, data, pool_size=None)";
constexpr std::string_view average_doc =
    "The spatial dimensions of the result are 1. TVM has no such operator today; there it is R.mean over the "
    "spatial axes.";
constexpr std::string_view maximum_gradient = "ddata = grad.max_pool_backward(g, data, pool_size=None)";
constexpr std::string_view maximum_doc =
    "The spatial dimensions of the result are 1. TVM has no such operator today; there it is R.max over the "
    "spatial axes. NaN propagates; the gradient goes to the first of equal cells.";

// The first sample shows what the two do with one input; the others are the same for both.
constexpr auto samples_1d(std::string_view result) {
  return std::to_array<Sample>({
      {"[[[1.0, 4.0, 2.0, 3.0]]]", result},
      {"[[[0.5, -2.5, 3.5, 4.5, -0.5], [-5.0, 3.0, -4.5, 2.5, -2.0]], [[0.0, 1.5, 2.0, 1.0, -1.5], [-3.5, "
       "-1.0, -4.0, 4.0, -3.0]]]"},
      {"[[[0.0, 1.5], [-1.0, -0.5], [-2.5, -1.5], [0.5, 1.0], [-2.0, 2.0]]], layout=\"NWC\", "
       "out_layout=\"NCW\""},
      {"rand((0, 2, 3), \"float32\")"},
      {"rand((1, 1, 1), \"float64\")"},
  });
}
constexpr auto average_samples_1d = samples_1d("[[[2.5]]]");
constexpr auto maximum_samples_1d = samples_1d("[[[4.0]]]");
constexpr Reject average_rejects_1d[] = {
    {"global_avg_pool1d.rank", "rand((2, 3), \"float32\")", "expected 3"},
    {"global_avg_pool1d.layout", "rand((2, 2, 2), \"float32\"), layout=\"NC\"", "expected the letters"},
};
constexpr Reject maximum_rejects_1d[] = {
    {"global_max_pool1d.rank", "rand((2, 3), \"float32\")", "expected 3"},
    {"global_max_pool1d.layout", "rand((2, 2, 2), \"float32\"), layout=\"NC\"", "expected the letters"},
};

constexpr auto samples_2d(std::string_view result) {
  return std::to_array<Sample>({
      {"[[[[1.0, 4.0], [2.0, 3.0]]]]", result},
      {"[[[[1.5, -2.5, -6.0], [0.0, 1.0, -4.5]], [[-4.0, 3.5, 2.5], [4.0, 0.5, 2.0]]], [[[4.5, -1.0, 3.0], "
       "[5.5, -3.0, -2.0]], [[-1.5, -3.5, -0.5], [5.0, -5.0, -5.5]]]]"},
      {"[[[[0.5, 2.5], [-1.5, 2.0], [1.0, -1.0]], [[1.5, -2.5], [-3.0, 0.0], [-2.0, -0.5]]]], "
       "layout=\"NHWC\", "
       "out_layout=\"NCHW\""},
      {"rand((0, 2, 3, 3), \"float32\")"},
      {"rand((1, 1, 1, 1), \"float64\")"},
  });
}
constexpr auto average_samples_2d = samples_2d("[[[[2.5]]]]");
constexpr auto maximum_samples_2d = samples_2d("[[[[4.0]]]]");
constexpr Reject average_rejects_2d[] = {
    {"global_avg_pool2d.rank", "rand((2, 3), \"float32\")", "expected 4"},
    {"global_avg_pool2d.layout", "rand((2, 2, 2, 2), \"float32\"), layout=\"NC\"", "expected the letters"},
};
constexpr Reject maximum_rejects_2d[] = {
    {"global_max_pool2d.rank", "rand((2, 3), \"float32\")", "expected 4"},
    {"global_max_pool2d.layout", "rand((2, 2, 2, 2), \"float32\"), layout=\"NC\"", "expected the letters"},
};

constexpr auto samples_3d(std::string_view result) {
  return std::to_array<Sample>({
      {"[[[[[1.0, 4.0], [2.0, 3.0]]]]]", result},
      {"[[[[[-3.0, 2.0, 4.5]], [[1.0, -5.5, -3.5]]], [[[3.5, -1.0, -1.5]], [[0.5, 5.5, 0.0]]]], [[[[-4.5, "
       "-2.0, 4.0]], [[5.0, -6.0, -5.0]]], [[[1.5, -0.5, -4.0]], [[2.5, 3.0, -2.5]]]]]"},
      {"[[[[[0.5, 1.0], [-1.0, -2.5], [1.5, -3.0]]], [[[2.0, 2.5], [-2.0, 0.0], [-0.5, -1.5]]]]], "
       "layout=\"NDHWC\", out_layout=\"NCDHW\""},
      {"rand((0, 2, 3, 3, 3), \"float32\")"},
      {"rand((1, 1, 1, 1, 1), \"float64\")"},
  });
}
constexpr auto average_samples_3d = samples_3d("[[[[[2.5]]]]]");
constexpr auto maximum_samples_3d = samples_3d("[[[[[4.0]]]]]");
constexpr Reject average_rejects_3d[] = {
    {"global_avg_pool3d.rank", "rand((2, 3), \"float32\")", "expected 5"},
    {"global_avg_pool3d.layout", "rand((2, 2, 2, 2, 2), \"float32\"), layout=\"NC\"", "expected the letters"},
};
constexpr Reject maximum_rejects_3d[] = {
    {"global_max_pool3d.rank", "rand((2, 3), \"float32\")", "expected 5"},
    {"global_max_pool3d.layout", "rand((2, 2, 2, 2, 2), \"float32\"), layout=\"NC\"", "expected the letters"},
};

template <int rank>
constexpr Op average(Op op) {
  op.gradient_doc = average_gradient;
  op.doc = average_doc;
  return pooling::pool_op<pooling::Member{pooling::Kind::Average, rank, true}>(op);
}

template <int rank>
constexpr Op maximum(Op op) {
  op.gradient_doc = maximum_gradient;
  op.doc = maximum_doc;
  return pooling::pool_op<pooling::Member{pooling::Kind::Max, rank, true}>(op);
}

}  // namespace

extern const Op op_nn_global_avg_pool1d =
    average<1>({.name = "nn.global_avg_pool1d",
                .summary = "Average of each channel over one spatial dimension.",
                .samples = average_samples_1d,
                .rejects = average_rejects_1d});

extern const Op op_nn_global_avg_pool2d =
    average<2>({.name = "nn.global_avg_pool2d",
                .summary = "Average of each channel over two spatial dimensions.",
                .samples = average_samples_2d,
                .rejects = average_rejects_2d});

extern const Op op_nn_global_avg_pool3d =
    average<3>({.name = "nn.global_avg_pool3d",
                .summary = "Average of each channel over three spatial dimensions.",
                .samples = average_samples_3d,
                .rejects = average_rejects_3d});

extern const Op op_nn_global_max_pool1d =
    maximum<1>({.name = "nn.global_max_pool1d",
                .summary = "Largest element of each channel over one spatial dimension.",
                .samples = maximum_samples_1d,
                .rejects = maximum_rejects_1d});

extern const Op op_nn_global_max_pool2d =
    maximum<2>({.name = "nn.global_max_pool2d",
                .summary = "Largest element of each channel over two spatial dimensions.",
                .samples = maximum_samples_2d,
                .rejects = maximum_rejects_2d});

extern const Op op_nn_global_max_pool3d =
    maximum<3>({.name = "nn.global_max_pool3d",
                .summary = "Largest element of each channel over three spatial dimensions.",
                .samples = maximum_samples_3d,
                .rejects = maximum_rejects_3d});

}  // namespace relish::ops_nn_global_pool

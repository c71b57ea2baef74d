// Average pools over one, two and three spatial dimensions.
#include "stdlib/families/windows/pooling.h"

namespace relish::ops_nn_avg_pool {
namespace {

constexpr std::string_view gradient_doc =
    "ddata = grad.avg_pool_backward(g, data): each g is spread evenly over its window";
constexpr std::string_view doc =
    "Windows are counted as for convolutions, rounded down; with ceil_mode up, but every window starts "
    "within the data or the padding before it. Written without keywords the attributes stand in the order "
    "pool_size, strides, padding, dilation. The sum of a window is divided by the number of its cells in the "
    "data; with count_include_pad, the default for one and three dimensions, by those in data and padding. "
    "Integers are summed and divided in 64 bits, truncating.";

constexpr Sample samples_1d[] = {
    {"[[[1.0, 4.0, 2.0, 3.0]]], pool_size=2, strides=2", "[[[2.5, 2.5]]]"},
    {"[[[-1.0, 1.0, -0.5, 1.5, 0.0, -1.5, 0.5]]], pool_size=2"},
    {"rand((2, 1, 7), \"float64\"), pool_size=2, count_include_pad=False"},
    {"[[[-1.0, -1.5, -0.5, 1.0, 1.5, 0.5, 0.0]]], pool_size=3, strides=2, padding=1"},
    {"rand((2, 1, 7), \"float64\"), pool_size=3, strides=2, padding=1, count_include_pad=False"},
    {"[[[1.5, -1.0, -1.5, 1.0, 0.5, -0.5, 0.0]]], pool_size=[2], strides=[3], padding=[1, 0], dilation=2, "
     "ceil_mode=True"},
    {"rand((2, 1, 7), \"float64\"), pool_size=[2], strides=[3], padding=[1, 0], dilation=2, ceil_mode=True, "
     "count_include_pad=False"},
    {"[[[2.0, -0.5], [-3.5, 0.0], [3.0, 0.5], [-2.5, -3.0], [1.0, 1.5], [-2.0, -1.0], [-1.5, 2.5]]], "
     "pool_size=2, layout=\"NWC\", out_layout=\"NCW\""},
    {"rand((0, 2, 7), \"float32\"), pool_size=2"},
    {"rand((1, 1, 1), \"float64\"), pool_size=1"},
};
constexpr Reject rejects_1d[] = {
    {"avg_pool1d.pool_size", "rand((1, 1, 7), \"float32\"), pool_size=9", "a window spans 9"},
    {"avg_pool1d.rank", "rand((2, 3), \"float32\")", "expected 3"},
};

constexpr Sample samples_2d[] = {
    {"[[[[1.0, 4.0], [2.0, 3.0]]]], pool_size=2, padding=[1, 1, 0, 0]", "[[[[1.0, 2.5], [1.5, 2.5]]]]"},
    {"[[[[-0.5, 1.0, 2.0, 3.0], [4.0, 3.5, 4.5, -1.5], [2.5, -4.0, 0.5, -4.5], [1.5, -2.0, -5.0, -2.5], "
     "[0.0, -3.5, -1.0, -3.0]]]], pool_size=2"},
    {"rand((2, 1, 5, 4), \"float64\"), pool_size=2, count_include_pad=True"},
    {"[[[[-3.0, -4.5, 0.5, 3.0], [4.5, -5.0, -2.0, 2.0], [0.0, -4.0, -1.0, -1.5], [1.0, -3.5, 3.5, 2.5], "
     "[-0.5, 4.0, 1.5, -2.5]]]], pool_size=[3, 2], strides=2, padding=1"},
    {"rand((2, 1, 5, 4), \"float64\"), pool_size=[3, 2], strides=2, padding=1, count_include_pad=True"},
    {"[[[[-2.0, -1.0, 1.0, -0.5], [4.0, -4.0, 3.5, 4.5], [-3.5, 1.5, 2.5, 0.0], [3.0, -4.5, 0.5, -2.5], "
     "[2.0, -5.0, -1.5, -3.0]]]], pool_size=2, strides=[2, 3], padding=[1, 0, 0, 1], dilation=[2, 1], "
     "ceil_mode=True"},
    {"rand((2, 1, 5, 4), \"float64\"), pool_size=2, strides=[2, 3], padding=[1, 0, 0, 1], dilation=[2, 1], "
     "ceil_mode=True, count_include_pad=True"},
    {"[[[[-4.5, -5.5], [-9.0, 4.0], [4.5, 1.5], [-3.5, 1.0]], [[-8.5, 7.0], [6.5, 6.0], [2.0, -3.0], [-9.5, "
     "-0.5]], [[-5.0, 3.5], [7.5, 3.0], [-7.0, -7.5], [5.5, 2.5]], [[-6.0, -10.0], [9.5, 0.5], [9.0, -1.5], "
     "[-8.0, 8.0]], [[5.0, -1.0], [-6.5, 8.5], [-2.5, -4.0], [0.0, -2.0]]]], pool_size=2, layout=\"NHWC\", "
     "out_layout=\"NCHW\""},
    {"rand((0, 2, 5, 4), \"float32\"), pool_size=2"},
    {"rand((1, 1, 1, 1), \"float64\"), pool_size=1"},
    {"[[[[2.0, -2.0, 2.5], [0.5, -2.5, -1.5]]], [[[0.0, -3.0, 1.0], [-0.5, -1.0, 1.5]]]], pool_size=None"},
    {"[[[[0.5, 1.5]]]], [1, 2], [1, 1], [0, 1]", "[[[[0.5, 1.0, 1.5]]]]"},
};
constexpr Reject rejects_2d[] = {
    {"avg_pool2d.pool_size", "rand((1, 1, 5, 4), \"float32\"), pool_size=9", "a window spans 9"},
    {"avg_pool2d.rank", "rand((2, 3), \"float32\")", "expected 4"},
    {"avg_pool2d.strides", "rand((1, 1, 5, 4), \"float32\"), strides=0", "expected at least 1"},
    {"avg_pool2d.padding", "rand((1, 1, 5, 4), \"float32\"), padding=[1, 1, 1]", "expected 1, 2 or 4"},
    {"avg_pool2d.rank", "rand((1, 1, 5, 4), \"float32\"), layout=\"NCHW4c\"", "expected 5 for the layout"},
    {"avg_pool2d.dtype", "R.const([[[[True]]]], \"bool\")", "expected numbers"},
    {"avg_pool2d.ceil_mode", "rand((1, 1, 5, 4), \"float32\"), ceil_mode=2", "expected bool"},
};

constexpr Sample samples_3d[] = {
    {"[[[[[1.0, 4.0], [2.0, 3.0]]]]], pool_size=[1, 2, 2]", "[[[[[2.5]]]]]"},
    {"[[[[[-4.0, 7.0, 1.5], [8.5, 0.5, -1.5], [3.0, -0.5, 4.0]], [[-4.5, -7.5, 4.5], [-6.0, 6.0, -5.0], "
     "[-3.5, 5.0, 2.0]], [[-6.5, 3.5, 2.5], [-5.5, 6.5, -9.0], [-2.0, -8.0, -7.0]], [[1.0, 5.5, -3.0], [7.5, "
     "-1.0, -2.5], [-8.5, 0.0, 8.0]]]]], pool_size=2"},
    {"rand((2, 1, 4, 3, 3), \"float64\"), pool_size=2, count_include_pad=False"},
    {"[[[[[-1.5, -4.0, 0.5], [-5.0, 0.0, -8.0], [-3.5, -1.0, -6.5]], [[-6.0, 8.5, -3.0], [1.0, 6.5, 4.5], "
     "[-2.5, -2.0, 4.0]], [[7.0, 3.0, 8.0], [5.5, 2.5, 5.0], [2.0, 7.5, -0.5]], [[-7.5, -7.0, -8.5], [1.5, "
     "-4.5, 3.5], [-5.5, 6.0, -9.0]]]]], pool_size=[3, 2, 1], strides=2, padding=[1, 0, 0]"},
    {"rand((2, 1, 4, 3, 3), \"float64\"), pool_size=[3, 2, 1], strides=2, padding=[1, 0, 0], "
     "count_include_pad=False"},
    {"[[[[[-5.0, 7.5, -6.0], [5.0, -6.5, 1.0], [-8.0, 2.0, -2.0]], [[8.0, 1.5, 4.0], [-3.0, 7.0, -5.5], "
     "[0.0, 8.5, -0.5]], [[5.5, -3.5, 6.0], [3.0, 4.5, 3.5], [-1.0, -4.0, -7.5]], [[-8.5, 2.5, -9.0], [6.5, "
     "-1.5, 0.5], [-4.5, -2.5, -7.0]]]]], pool_size=2, strides=[2, 3, 2], padding=[1, 0, 1, 0, 1, 0], "
     "ceil_mode=True"},
    {"rand((2, 1, 4, 3, 3), \"float64\"), pool_size=2, strides=[2, 3, 2], padding=[1, 0, 1, 0, 1, 0], "
     "ceil_mode=True, count_include_pad=False"},
    {"[[[[[3.0, -8.5], [-2.0, 5.0]], [[2.5, -4.0], [2.0, -3.5]], [[1.5, -8.0], [-6.0, 0.0]]], [[[5.5, -2.5], "
     "[6.5, -6.5]], [[4.5, 3.5], [-5.0, -9.0]], [[8.5, 8.0], [6.0, -7.0]]], [[[-5.5, 0.5], [-0.5, 7.0]], "
     "[[-4.5, -7.5], [4.0, 7.5]], [[-1.5, -3.0], [1.0, -1.0]]]]], pool_size=2, layout=\"NDHWC\", "
     "out_layout=\"NCDHW\""},
    {"rand((0, 2, 4, 3, 3), \"float32\"), pool_size=2"},
    {"rand((1, 1, 1, 1, 1), \"float64\"), pool_size=1"},
};
constexpr Reject rejects_3d[] = {
    {"avg_pool3d.pool_size", "rand((1, 1, 4, 3, 3), \"float32\"), pool_size=9", "a window spans 9"},
    {"avg_pool3d.rank", "rand((2, 3), \"float32\")", "expected 5"},
};

// What all ranks share.
template <int rank>
constexpr Op average_pool(Op op) {
  op.gradient_doc = gradient_doc;
  op.doc = doc;
  return pooling::pool_op<pooling::Member{pooling::Kind::Average, rank}>(op);
}

}  // namespace

extern const Op op_nn_avg_pool1d =
    average_pool<1>({.name = "nn.avg_pool1d",
                     .summary = "Average of every window over one spatial dimension.",
                     .samples = samples_1d,
                     .rejects = rejects_1d});

extern const Op op_nn_avg_pool2d =
    average_pool<2>({.name = "nn.avg_pool2d",
                     .summary = "Average of every window over two spatial dimensions.",
                     .samples = samples_2d,
                     .rejects = rejects_2d});

extern const Op op_nn_avg_pool3d =
    average_pool<3>({.name = "nn.avg_pool3d",
                     .summary = "Average of every window over three spatial dimensions.",
                     .samples = samples_3d,
                     .rejects = rejects_3d});

}  // namespace relish::ops_nn_avg_pool

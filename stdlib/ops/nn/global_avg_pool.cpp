// Average over all of the data, in one, two and three spatial dimensions.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/pooling.h"

namespace relish::ops_nn_global_avg_pool {
namespace {

constexpr std::string_view gradient_doc = "ddata = grad.avg_pool_backward(g, data, pool_size=None)";
constexpr std::string_view doc =
    "The spatial dimensions of the result are 1. TVM has no such operator today; there it is R.mean over the "
    "spatial axes.";

constexpr Sample samples_1d[] = {
    {"[[[1.0, 4.0, 2.0, 3.0]]]", "[[[2.5]]]"},
    {"[[[0.5, -2.5, 3.5, 4.5, -0.5], [-5.0, 3.0, -4.5, 2.5, -2.0]], [[0.0, 1.5, 2.0, 1.0, -1.5], [-3.5, "
     "-1.0, -4.0, 4.0, -3.0]]]"},
    {"[[[0.0, 1.5], [-1.0, -0.5], [-2.5, -1.5], [0.5, 1.0], [-2.0, 2.0]]], layout=\"NWC\", "
     "out_layout=\"NCW\""},
    {"rand((0, 2, 3), \"float32\")"},
    {"rand((1, 1, 1), \"float64\")"},
};
constexpr Reject rejects_1d[] = {
    {"global_avg_pool1d.rank", "rand((2, 3), \"float32\")", "expected 3"},
    {"global_avg_pool1d.layout", "rand((2, 2, 2), \"float32\"), layout=\"NC\"", "expected the letters"},
};

constexpr Sample samples_2d[] = {
    {"[[[[1.0, 4.0], [2.0, 3.0]]]]", "[[[[2.5]]]]"},
    {"[[[[1.5, -2.5, -6.0], [0.0, 1.0, -4.5]], [[-4.0, 3.5, 2.5], [4.0, 0.5, 2.0]]], [[[4.5, -1.0, 3.0], "
     "[5.5, -3.0, -2.0]], [[-1.5, -3.5, -0.5], [5.0, -5.0, -5.5]]]]"},
    {"[[[[0.5, 2.5], [-1.5, 2.0], [1.0, -1.0]], [[1.5, -2.5], [-3.0, 0.0], [-2.0, -0.5]]]], layout=\"NHWC\", "
     "out_layout=\"NCHW\""},
    {"rand((0, 2, 3, 3), \"float32\")"},
    {"rand((1, 1, 1, 1), \"float64\")"},
};
constexpr Reject rejects_2d[] = {
    {"global_avg_pool2d.rank", "rand((2, 3), \"float32\")", "expected 4"},
    {"global_avg_pool2d.layout", "rand((2, 2, 2, 2), \"float32\"), layout=\"NC\"", "expected the letters"},
};

constexpr Sample samples_3d[] = {
    {"[[[[[1.0, 4.0], [2.0, 3.0]]]]]", "[[[[[2.5]]]]]"},
    {"[[[[[-3.0, 2.0, 4.5]], [[1.0, -5.5, -3.5]]], [[[3.5, -1.0, -1.5]], [[0.5, 5.5, 0.0]]]], [[[[-4.5, "
     "-2.0, 4.0]], [[5.0, -6.0, -5.0]]], [[[1.5, -0.5, -4.0]], [[2.5, 3.0, -2.5]]]]]"},
    {"[[[[[0.5, 1.0], [-1.0, -2.5], [1.5, -3.0]]], [[[2.0, 2.5], [-2.0, 0.0], [-0.5, -1.5]]]]], "
     "layout=\"NDHWC\", out_layout=\"NCDHW\""},
    {"rand((0, 2, 3, 3, 3), \"float32\")"},
    {"rand((1, 1, 1, 1, 1), \"float64\")"},
};
constexpr Reject rejects_3d[] = {
    {"global_avg_pool3d.rank", "rand((2, 3), \"float32\")", "expected 5"},
    {"global_avg_pool3d.layout", "rand((2, 2, 2, 2, 2), \"float32\"), layout=\"NC\"", "expected the letters"},
};

template <int rank>
constexpr pooling::Member member{pooling::Kind::Average, rank, true};

// What all ranks share.
template <int rank>
constexpr Op global_average_pool(Op op) {
  op.params = pooling::global_params<rank>;
  op.gradient_doc = gradient_doc;
  op.agreement = Agreement::Sum;
  op.terms = [](const CallView& call, const Type&) { return pooling::terms(call, member<rank>); };
  op.doc = doc;
  return member_of<member<rank>>(op);
}

}  // namespace

extern const Op op_nn_global_avg_pool1d =
    global_average_pool<1>({.name = "nn.global_avg_pool1d",
                            .summary = "Average of each channel over one spatial dimension.",
                            .samples = samples_1d,
                            .rejects = rejects_1d});

extern const Op op_nn_global_avg_pool2d =
    global_average_pool<2>({.name = "nn.global_avg_pool2d",
                            .summary = "Average of each channel over two spatial dimensions.",
                            .samples = samples_2d,
                            .rejects = rejects_2d});

extern const Op op_nn_global_avg_pool3d =
    global_average_pool<3>({.name = "nn.global_avg_pool3d",
                            .summary = "Average of each channel over three spatial dimensions.",
                            .samples = samples_3d,
                            .rejects = rejects_3d});

}  // namespace relish::ops_nn_global_avg_pool

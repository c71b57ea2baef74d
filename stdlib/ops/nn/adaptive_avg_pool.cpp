// Averages over even parts of one, two and three spatial dimensions.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/resampling.h"

namespace relish::ops_nn_adaptive_avg_pool {
namespace {

template <int rank>
constexpr std::array<Param, 4> params = {
    windows::data_param,
    {"output_size", ParamKind::Attribute, "int or list[int] or None", "None",
     "spatial sizes of the result: one number or one for each dimension; None: those of data"},
    windows::layout_param(rank),
    windows::out_layout_param};

constexpr std::string_view gradient_doc = "ddata = grad.adaptive_avg_pool_backward(g, shape of data)";
constexpr std::string_view doc =
    "Cell i of n averages the cells floor(i * in / n) to ceil((i + 1) * in / n) - 1, so parts may overlap by "
    "one cell and sizes larger than the data repeat cells.";

constexpr Sample samples_1d[] = {
    {"[[[1.0, 2.0, 4.0, 8.0]]], output_size=[2]", "[[[1.5, 6.0]]]"},
    {"rand((2, 1, 7), \"float64\"), output_size=3"},
    {"rand((1, 2, 7), \"float64\"), output_size=[9]"},
    {"rand((1, 2, 7), \"float32\")"},
    {"rand((2, 7, 3), \"float32\"), output_size=1, layout=\"NWC\", out_layout=\"NCW\""},
    {"rand((0, 2, 7), \"float32\"), output_size=2"},
    {"rand((1, 1, 1), \"float64\"), output_size=1"},
};
constexpr Reject rejects_1d[] = {
    {"adaptive_avg_pool1d.rank", "rand((2, 3), \"float32\")", "expected 3"},
    {"adaptive_avg_pool1d.output_size", "rand((2, 2, 2), \"float32\"), output_size=[1, 2, 3, 4]",
     "expected 1"},
    {"adaptive_avg_pool1d.size", "rand((2, 1, 0), \"float32\"), output_size=2", "the result has cells"},
    {"adaptive_avg_pool1d.dtype", "R.const([[[1]]], \"int32\")", "expected a floating dtype"},
};

constexpr Sample samples_2d[] = {
    {"[[[[1.0, 2.0, 4.0, 8.0]]]], output_size=[1, 2]", "[[[[1.5, 6.0]]]]"},
    {"rand((2, 1, 5, 4), \"float64\"), output_size=3"},
    {"rand((1, 2, 5, 4), \"float64\"), output_size=[9, 2]"},
    {"rand((1, 2, 5, 4), \"float32\")"},
    {"rand((2, 5, 4, 3), \"float32\"), output_size=1, layout=\"NHWC\", out_layout=\"NCHW\""},
    {"rand((0, 2, 5, 4), \"float32\"), output_size=2"},
    {"rand((1, 1, 1, 1), \"float64\"), output_size=1"},
};
constexpr Reject rejects_2d[] = {
    {"adaptive_avg_pool2d.rank", "rand((2, 3), \"float32\")", "expected 4"},
    {"adaptive_avg_pool2d.output_size", "rand((2, 2, 2, 2), \"float32\"), output_size=[1, 2, 3, 4]",
     "expected 1"},
    {"adaptive_avg_pool2d.size", "rand((2, 1, 0, 0), \"float32\"), output_size=2", "the result has cells"},
    {"adaptive_avg_pool2d.dtype", "R.const([[[[1]]]], \"int32\")", "expected a floating dtype"},
};

constexpr Sample samples_3d[] = {
    {"[[[[[1.0, 2.0, 4.0, 8.0]]]]], output_size=[1, 1, 2]", "[[[[[1.5, 6.0]]]]]"},
    {"rand((2, 1, 4, 3, 5), \"float64\"), output_size=3"},
    {"rand((1, 2, 4, 3, 5), \"float64\"), output_size=[9, 2, 3]"},
    {"rand((1, 2, 4, 3, 5), \"float32\")"},
    {"rand((2, 4, 3, 5, 3), \"float32\"), output_size=1, layout=\"NDHWC\", out_layout=\"NCDHW\""},
    {"rand((0, 2, 4, 3, 5), \"float32\"), output_size=2"},
    {"rand((1, 1, 1, 1, 1), \"float64\"), output_size=1"},
};
constexpr Reject rejects_3d[] = {
    {"adaptive_avg_pool3d.rank", "rand((2, 3), \"float32\")", "expected 5"},
    {"adaptive_avg_pool3d.output_size", "rand((2, 2, 2, 2, 2), \"float32\"), output_size=[1, 2, 3, 4]",
     "expected 1"},
    {"adaptive_avg_pool3d.size", "rand((2, 1, 0, 0, 0), \"float32\"), output_size=2", "the result has cells"},
    {"adaptive_avg_pool3d.dtype", "R.const([[[[[1]]]]], \"int32\")", "expected a floating dtype"},
};

template <int rank>
constexpr resampling::Member member{resampling::Source::Adaptive, rank, false};

// What all ranks share.
template <int rank>
constexpr Op adaptive_average_pool(Op op) {
  op.params = params<rank>;
  op.gradient_doc = gradient_doc;
  op.agreement = Agreement::Sum;
  op.terms = [](const CallView& call, const Type& result) {
    return resampling::adaptive_terms(call, result, member<rank>);
  };
  op.doc = doc;
  return member_of<member<rank>>(op);
}

}  // namespace

extern const Op op_nn_adaptive_avg_pool1d =
    adaptive_average_pool<1>({.name = "nn.adaptive_avg_pool1d",
                              .summary = "Averages over even parts of one spatial dimension.",
                              .samples = samples_1d,
                              .rejects = rejects_1d});

extern const Op op_nn_adaptive_avg_pool2d =
    adaptive_average_pool<2>({.name = "nn.adaptive_avg_pool2d",
                              .summary = "Averages over even parts of two spatial dimensions.",
                              .samples = samples_2d,
                              .rejects = rejects_2d});

extern const Op op_nn_adaptive_avg_pool3d =
    adaptive_average_pool<3>({.name = "nn.adaptive_avg_pool3d",
                              .summary = "Averages over even parts of three spatial dimensions.",
                              .samples = samples_3d,
                              .rejects = rejects_3d});

}  // namespace relish::ops_nn_adaptive_avg_pool

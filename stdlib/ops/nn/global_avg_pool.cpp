// Average over all of the data, in one, two and three spatial dimensions.
#include "stdlib/families/pooling.h"

namespace relish {
namespace {

template <int rank>
constexpr pooling::Member member{pooling::Kind::Average, rank, true};

template <int rank>
Type infer(const CallView& call) {
  return pooling::infer(call, member<rank>);
}
template <int rank>
Value evaluate(const EvalCall& call) {
  return pooling::evaluate(call, member<rank>);
}
template <int rank>
PrimFunc lower(const LowerCall& call) {
  return pooling::lower(call, member<rank>);
}
template <int rank>
Partials vjp(const VjpCall& call) {
  return pooling::vjp(call, member<rank>);
}

constexpr std::array<Param, 3> params_of(std::string_view layout) {
  return {{{"data", ParamKind::Tensor, "tensor", "", "input, in the order of layout"},
           {"layout", ParamKind::Attribute, "str", layout, "order of the dimensions of data"},
           {"out_layout", ParamKind::Attribute, "str or None", "None",
            "order of the dimensions of the result; None: as layout"}}};
}
constexpr auto params_1d = params_of("\"NCW\"");
constexpr auto params_2d = params_of("\"NCHW\"");
constexpr auto params_3d = params_of("\"NCDHW\"");

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

}  // namespace

extern const Op op_nn_global_avg_pool1d{.name = "nn.global_avg_pool1d",
                                        .summary = "Average of each channel over one spatial dimension.",
                                        .params = params_1d,
                                        .infer = infer<1>,
                                        .eval = evaluate<1>,
                                        .lower = lower<1>,
                                        .vjp = vjp<1>,
                                        .gradient_doc = gradient_doc,
                                        .agreement = Agreement::Composite,
                                        .samples = samples_1d,
                                        .rejects = rejects_1d,
                                        .doc = doc};

extern const Op op_nn_global_avg_pool2d{.name = "nn.global_avg_pool2d",
                                        .summary = "Average of each channel over two spatial dimensions.",
                                        .params = params_2d,
                                        .infer = infer<2>,
                                        .eval = evaluate<2>,
                                        .lower = lower<2>,
                                        .vjp = vjp<2>,
                                        .gradient_doc = gradient_doc,
                                        .agreement = Agreement::Composite,
                                        .samples = samples_2d,
                                        .rejects = rejects_2d,
                                        .doc = doc};

extern const Op op_nn_global_avg_pool3d{.name = "nn.global_avg_pool3d",
                                        .summary = "Average of each channel over three spatial dimensions.",
                                        .params = params_3d,
                                        .infer = infer<3>,
                                        .eval = evaluate<3>,
                                        .lower = lower<3>,
                                        .vjp = vjp<3>,
                                        .gradient_doc = gradient_doc,
                                        .agreement = Agreement::Composite,
                                        .samples = samples_3d,
                                        .rejects = rejects_3d,
                                        .doc = doc};

}  // namespace relish

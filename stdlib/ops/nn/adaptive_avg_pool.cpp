// Averages over even parts of one, two and three spatial dimensions.
#include "stdlib/families/resampling.h"

namespace relish {
namespace {

template <int rank>
constexpr resampling::Member member{resampling::Source::Adaptive, rank, false};

template <int rank>
Type infer(const CallView& call) {
  return resampling::infer(call, member<rank>);
}
template <int rank>
Value evaluate(const EvalCall& call) {
  return resampling::evaluate(call, member<rank>);
}
template <int rank>
PrimFunc lower(const LowerCall& call) {
  return resampling::lower(call, member<rank>);
}
template <int rank>
Partials vjp(const VjpCall& call) {
  return resampling::vjp(call, member<rank>);
}

constexpr std::array<Param, 4> params_of(std::string_view layout) {
  return {{{"data", ParamKind::Tensor, "tensor", "", "input, in the order of layout"},
           {"output_size", ParamKind::Attribute, "int or list[int] or None", "None",
            "spatial sizes of the result: one number or one for each dimension; None: those of data"},
           {"layout", ParamKind::Attribute, "str", layout, "order of the dimensions of data"},
           {"out_layout", ParamKind::Attribute, "str or None", "None",
            "order of the dimensions of the result; None: as layout"}}};
}
constexpr auto params_1d = params_of("\"NCW\"");
constexpr auto params_2d = params_of("\"NCHW\"");
constexpr auto params_3d = params_of("\"NCDHW\"");

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

}  // namespace

extern const Op op_nn_adaptive_avg_pool1d{.name = "nn.adaptive_avg_pool1d",
                                          .summary = "Averages over even parts of one spatial dimension.",
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

extern const Op op_nn_adaptive_avg_pool2d{.name = "nn.adaptive_avg_pool2d",
                                          .summary = "Averages over even parts of two spatial dimensions.",
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

extern const Op op_nn_adaptive_avg_pool3d{.name = "nn.adaptive_avg_pool3d",
                                          .summary = "Averages over even parts of three spatial dimensions.",
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

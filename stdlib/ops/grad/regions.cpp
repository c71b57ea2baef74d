// The gradients of pools over regions, and theirs.
#include "stdlib/families/windows/regions.h"

namespace relish::ops_grad_regions {
namespace {

using namespace regions;

constexpr Param align_backward_params[] = {output_grad_param, data_param,   rois_param,
                                           size_param,        scale_param,  ratio_param,
                                           aligned_param,     layout_param, mode_param};
constexpr Param align_select_params[] = {values_param, data_param,    rois_param,   size_param, scale_param,
                                         ratio_param,  aligned_param, layout_param, mode_param};
constexpr Param pool_backward_params[] = {output_grad_param, data_param,  rois_param,
                                          size_param,        scale_param, layout_param};
constexpr Param pool_select_params[] = {values_param, data_param,  rois_param,
                                        size_param,   scale_param, layout_param};

constexpr std::string_view backward_doc =
    "The shares of a cell are added up in the order of the bins and rounded once. TVM has no such operator.";
constexpr std::string_view select_doc = "Without a cell of data a bin is 0. TVM has no such operator.";

constexpr Sample align_backward_samples[] = {
    {"[[[[4.0]]]], [[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, 0.0, 0.0, 1.0, 1.0]], 1, 1.0",
     "[[[[1.0, 1.0], [1.0, 1.0]]]]"},
    {"[[[[1.0, 2.0], [4.0, 8.0]]]], [[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, 0.0, 0.0, 2.0, 2.0]], 2, 0.5, 1, "
     "mode=\"max\"",
     "[[[[2.1875, 3.0625], [4.0625, 5.6875]]]]"},
    {"[[[[5.0]]]], [[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, -9.0, -9.0, -7.0, -7.0]], 1, 1.0",
     "[[[[0.0, 0.0], [0.0, 0.0]]]]"},
    {"rand((2, 3, 3, 2), \"float64\"), rand((2, 3, 8, 9), \"float64\"), tensor([[0.0, 1.0, 2.0, 6.5, 7.0], "
     "[1.0, 0.0, 0.0, 3.0, 8.0]], \"float64\"), [3, 2], 0.75"},
    {"rand((1, 2, 2, 3), \"float32\"), rand((2, 5, 4, 3), \"float32\", seed=4), [[1.0, 1.0, 2.0, 1.5, "
     "2.25]], 2, "
     "1.0, 2, True, \"NHWC\", \"max\""},
    {"rand((0, 3, 2, 2), \"float32\"), rand((1, 3, 4, 4), \"float32\"), rand((0, 5), \"float32\"), 2, 1.0"},
};
constexpr Reject align_backward_rejects[] = {
    {"roi_align_backward.shape",
     "rand((1, 1, 3, 2), \"float32\"), rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 2, 1.0",
     "3 rows, expected 2"},
    {"roi_align_backward.mode",
     "rand((1, 1, 2, 2), \"float32\"), rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 2, 1.0, "
     "mode=\"sum\"",
     "expected avg or max"},
};
constexpr Sample align_select_samples[] = {
    {"[[[[5.0, 6.0], [7.0, 10.0]]]], [[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, 0.0, 0.0, 1.0, 1.0]], 1, 1.0",
     "[[[[7.0]]]]"},
    {"[[[[16.0, 32.0], [64.0, 0.0]]]], [[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, 0.0, 0.0, 2.0, 2.0]], 1, 0.5, 2, "
     "mode=\"max\"",
     "[[[[19.0]]]]"},
    {"[[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, -9.0, -9.0, -7.0, -7.0]], 1, 1.0",
     "[[[[0.0]]]]"},
    {"rand((2, 3, 8, 9), \"float64\"), rand((2, 3, 8, 9), \"float64\"), tensor([[0.0, 1.0, 2.0, 6.5, 7.0], "
     "[1.0, 0.0, 0.0, 3.0, 8.0]], \"float64\"), [3, 2], 0.75"},
    // Seeds whose greatest samples are far from ties.
    {"rand((2, 5, 4, 3), \"float32\", seed=3), rand((2, 5, 4, 3), \"float32\", seed=4), "
     "[[1.0, 1.0, 2.0, 1.5, 2.25]], 2, 1.0, 2, True, \"NHWC\", \"max\""},
    {"rand((1, 3, 4, 4), \"float32\"), rand((1, 3, 4, 4), \"float32\"), rand((0, 5), \"float32\"), 2, 1.0"},
};
constexpr Reject align_select_rejects[] = {
    {"roi_align_select.shape",
     "rand((1, 2, 2, 2), \"float32\"), rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 2, 1.0",
     "2 channels, expected 1"},
    {"roi_align_select.mode",
     "rand((1, 1, 2, 2), \"float32\"), rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 2, 1.0, "
     "mode=\"sum\"",
     "expected avg or max"},
};
constexpr Sample pool_backward_samples[] = {
    {"[[[[3.0]]]], [[[[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]]], [[0.0, 0.0, 0.0, 1.0, 1.0]], 1, 1.0",
     "[[[[0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]]]"},
    {"[[[[3.0, 2.0]]]], [[[[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]]], [[0.0, 0.0, 0.0, 4.0, 2.0]], [1, 2], 0.5",
     "[[[[0.0, 0.0, 0.0], [0.0, 3.0, 2.0]]]]"},
    {"[[[[3.0]]]], [[[[7.0, 7.0]]]], [[0.0, 0.0, 0.0, 1.0, 0.0]], 1, 1.0", "[[[[3.0, 0.0]]]]", false},
    {"rand((2, 3, 3, 2), \"float64\"), rand((2, 3, 8, 9), \"float64\"), tensor([[0.0, 1.0, 2.0, 6.5, 7.0], "
     "[1.0, 0.0, 0.0, 3.0, 8.0]], \"float64\"), [3, 2], 0.75"},
    {"rand((1, 2, 2, 3), \"float32\"), rand((2, 5, 4, 3), \"float32\"), [[1.0, 1.0, 1.0, 2.0, 3.0]], 2, 1.0, "
     "\"NHWC\""},
    {"rand((0, 3, 2, 2), \"float32\"), rand((1, 3, 4, 4), \"float32\"), rand((0, 5), \"float32\"), 2, 1.0"},
};
constexpr Reject pool_backward_rejects[] = {
    {"roi_pool_backward.shape",
     "rand((1, 1, 2, 3), \"float32\"), rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 2, 1.0",
     "3 columns, expected 2"},
};
constexpr Sample pool_select_samples[] = {
    {"[[[[9.0, 8.0, 7.0], [6.0, 5.0, 4.0]]]], [[[[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]]], [[0.0, 0.0, 0.0, 1.0, "
     "1.0]], 1, 1.0",
     "[[[[5.0]]]]"},
    {"[[[[9.0, 8.0]]]], [[[[7.0, 7.0]]]], [[0.0, 0.0, 0.0, 1.0, 0.0]], 1, 1.0", "[[[[9.0]]]]", false},
    {"[[[[9.0, 8.0]]]], [[[[1.0, 2.0]]]], [[0.0, 5.0, 5.0, 6.0, 6.0]], 1, 1.0", "[[[[0.0]]]]"},
    {"rand((2, 3, 8, 9), \"float64\", seed=0), rand((2, 3, 8, 9), \"float64\", seed=1), tensor([[0.0, 1.0, "
     "2.0, 6.5, 7.0], "
     "[1.0, 0.0, 0.0, 3.0, 8.0]], \"float64\"), [3, 2], 0.75"},
    {"rand((2, 5, 4, 3), \"float32\"), rand((2, 5, 4, 3), \"float32\"), [[1.0, 1.0, 1.0, 2.0, 3.0]], 2, 1.0, "
     "\"NHWC\""},
    {"rand((1, 3, 4, 4), \"float32\"), rand((1, 3, 4, 4), \"float32\"), rand((0, 5), \"float32\"), 2, 1.0"},
};
constexpr Reject pool_select_rejects[] = {
    {"roi_pool_select.shape",
     "rand((1, 1, 2, 3), \"float32\"), rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 2, 1.0",
     "3 columns, expected 2"},
};

}  // namespace

extern const Op op_grad_roi_align_backward = regions::member_of<Member{true, Kind::Backward}>(
    {.name = "grad.roi_align_backward",
     .summary = "Gradient of vision.roi_align in data.",
     .params = align_backward_params,
     .gradient_doc = "doutput_grad = grad.roi_align_select(g, data, rois); rois are taken as given",
     .agreement = Agreement::Composite,
     .samples = align_backward_samples,
     .rejects = align_backward_rejects,
     .doc = backward_doc});

extern const Op op_grad_roi_align_select = regions::member_of<Member{true, Kind::Select}>(
    {.name = "grad.roi_align_select",
     .summary = "vision.roi_align of other values, by the samples that data choose.",
     .params = align_select_params,
     .gradient_doc = "dvalues = grad.roi_align_backward(g, data, rois); rois are taken as given",
     .agreement = Agreement::Composite,
     .samples = align_select_samples,
     .rejects = align_select_rejects,
     .doc = select_doc});

extern const Op op_grad_roi_pool_backward = regions::member_of<Member{false, Kind::Backward}>(
    {.name = "grad.roi_pool_backward",
     .summary = "Gradient of vision.roi_pool in data: each bin's cotangent at its first largest cell.",
     .params = pool_backward_params,
     .gradient_doc = "doutput_grad = grad.roi_pool_select(g, data, rois); rois are taken as given",
     .agreement = Agreement::Composite,
     .samples = pool_backward_samples,
     .rejects = pool_backward_rejects,
     .doc = backward_doc});

extern const Op op_grad_roi_pool_select = regions::member_of<Member{false, Kind::Select}>(
    {.name = "grad.roi_pool_select",
     .summary = "Values at the first largest cell of each bin of regions.",
     .params = pool_select_params,
     .gradient_doc = "dvalues = grad.roi_pool_backward(g, data, rois); rois are taken as given",
     .agreement = Agreement::Exact,
     .samples = pool_select_samples,
     .rejects = pool_select_rejects,
     .doc = select_doc});

}  // namespace relish::ops_grad_regions

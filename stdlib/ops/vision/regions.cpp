// Pools over regions of images.
#include "stdlib/families/windows/regions.h"

namespace relish::ops_vision_regions {
namespace {

using namespace regions;

constexpr Param align_params[] = {data_param,  rois_param,    size_param,   scale_param,
                                  ratio_param, aligned_param, layout_param, mode_param};
constexpr Param pool_params[] = {data_param, rois_param, size_param, scale_param, layout_param};

constexpr Sample align_samples[] = {
    {"[[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, 0.0, 0.0, 1.0, 1.0]], pooled_size=1, spatial_scale=1.0",
     "[[[[2.5]]]]"},
    {"[[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, 0.0, 0.0, 2.0, 2.0]], 2, 0.5, 1, mode=\"max\"",
     "[[[[1.75, 2.25], [2.75, 3.25]]]]"},
    {"[[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, -9.0, -9.0, -7.0, -7.0]], 1, 1.0", "[[[[0.0]]]]"},
    {"rand((2, 3, 8, 9), \"float64\"), tensor([[0.0, 1.0, 2.0, 6.5, 7.0], [1.0, 0.0, 0.0, 3.0, 8.0]], "
     "\"float64\"), [3, 2], 0.75"},
    {"rand((2, 8, 9, 3), \"float32\"), [[1.0, 1.0, 2.0, 1.5, 2.25]], 2, 1.0, 2, True, \"NHWC\""},
    {"rand((1, 3, 4, 4), \"float32\"), rand((0, 5), \"float32\"), 2, 1.0"},
};
constexpr Reject align_rejects[] = {
    {"roi_align.mode", "rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 1, 1.0, mode=\"sum\"",
     "expected avg or max"},
    {"roi_align.shape", "rand((1, 1, 2, 2), \"float32\"), rand((1, 4), \"float32\"), 1, 1.0",
     "4 numbers for a region"},
    {"roi_align.pooled_size", "rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 0, 1.0",
     "expected at least 1"},
    {"roi_align.layout", "rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 1, 1.0, layout=\"NC\"",
     "expected the letters"},
};
constexpr Sample pool_samples[] = {
    {"[[[[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]]], [[0.0, 0.0, 0.0, 1.0, 1.0]], pooled_size=1, spatial_scale=1.0",
     "[[[[4.0]]]]"},
    {"[[[[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]]], [[0.0, 0.0, 0.0, 4.0, 2.0]], pooled_size=[1, 2], "
     "spatial_scale=0.5",
     "[[[[4.0, 6.0]]]]"},
    {"[[[[1.0, 2.0]]]], [[0.0, 5.0, 5.0, 6.0, 6.0]], 1, 1.0", "[[[[0.0]]]]"},
    {"rand((2, 3, 8, 9), \"float64\", seed=0), tensor([[0.0, 1.0, 2.0, 6.5, 7.0], [1.0, 0.0, 0.0, 3.0, "
     "8.0]], "
     "\"float64\"), [3, 2], 0.75"},
    {"rand((1, 3, 4, 4), \"float32\"), rand((0, 5), \"float32\"), 2, 1.0"},
};
constexpr Reject pool_rejects[] = {
    {"roi_pool.shape", "rand((1, 1, 2, 2), \"float32\"), rand((1, 4), \"float32\"), 1, 1.0",
     "4 numbers for a region"},
    {"roi_pool.rank", "rand((1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 1, 1.0", "expected 4"},
};

}  // namespace

extern const Op op_vision_roi_align = regions::member_of<Member{true, Kind::Pool}>(
    {.name = "vision.roi_align",
     .summary = "Samples of regions, averaged or the largest, for each bin of a raster.",
     .params = align_params,
     .gradient_doc = "ddata = grad.roi_align_backward(g, data, rois); rois are taken as given",
     .agreement = Agreement::Composite,
     .samples = align_samples,
     .rejects = align_rejects,
     .doc =
         "Samples lie in the middle of equal parts of a bin and are interpolated between four cells; a "
         "sample more than a cell outside is 0. Coordinates are not moved by half a cell. Of equal samples "
         "the largest is the first, and NaN is larger than all. A region of an image that is not there is "
         "a RuntimeError."});

extern const Op op_vision_roi_pool = regions::member_of<Member{false, Kind::Pool}>(
    {.name = "vision.roi_pool",
     .summary = "The largest cell of each bin of regions.",
     .params = pool_params,
     .gradient_doc = "ddata = grad.roi_pool_backward(g, data, rois); rois are taken as given",
     .agreement = Agreement::Exact,
     .samples = pool_samples,
     .rejects = pool_rejects,
     .doc =
         "As MaxRoiPool of ONNX: edges are rounded to cells, halves up; a bin without cells is 0. Of equal "
         "cells the first counts, and NaN is larger than all."});

}  // namespace relish::ops_vision_regions

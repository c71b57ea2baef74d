// Sampling of images and volumes at the points of a grid.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/grid_sampling.h"

namespace relish::ops_image_grid_sample {
namespace {

constexpr Param params_sample[] = {
    windows::data_param,         grid_sampling::grid_param,         grid_sampling::method_param,
    grid_sampling::layout_param, grid_sampling::padding_mode_param, grid_sampling::align_corners_param};

constexpr Sample samples_sample[] = {
    {"[[[[1.0, 3.0], [5.0, 7.0]]]], [[[[0.0, -1.0]], [[0.0, 1.0]]]], align_corners=True", "[[[[4.0, 5.0]]]]",
     false},
    {"[[[[1.0, 3.0], [5.0, 7.0]]]], [[[[0.0, -0.5]], [[-1.5, 0.5]]]], align_corners=False, "
     "padding_mode=\"border\"",
     "[[[[2.0, 5.0]]]]", false},
    {"[[[[1.0, 3.0], [5.0, 7.0]]]], [[[[0.0, -1.0]], [[0.0, 1.0]]]]", "[[[[4.0, 1.25]]]]", false},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[-0.58, 2.21, -0.58], [-0.83, 0.43, 0.06]], [[0.91, -0.58, 2.21], "
     "[0.43, 0.91, 0.77]]]], align_corners=True"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[-0.12, -0.94, 2.21], [2.21, -0.37, 0.43]], [[-0.37, 0.91, 2.21], "
     "[0.91, 0.91, -1.43]]]], align_corners=False"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[-0.83, -0.37, -0.37], [0.77, -0.12, 1.37]], [[2.21, -1.43, 0.43], "
     "[0.43, -0.94, 0.21]]]], padding_mode=\"border\", align_corners=True"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.21, -0.94, 0.06], [-0.12, 0.77, -0.94]], [[0.91, -1.43, -0.94], "
     "[-0.37, -0.94, -0.83]]]], padding_mode=\"reflection\", align_corners=True"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.21, 0.43, -0.37], [1.37, -0.58, 0.91]], [[-0.12, -0.37, -0.37], "
     "[-0.83, -0.58, 0.06]]]], padding_mode=\"reflection\", align_corners=False"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[-0.94, 0.43, 1.37], [0.77, 2.21, 1.37]], [[1.37, -1.43, 0.06], "
     "[-0.83, 0.91, 2.21]]]], method=\"bicubic\", align_corners=True"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[2.21, -0.94, -0.37], [0.91, 2.21, 0.43]], [[-0.83, -0.83, -0.12], "
     "[-1.43, -0.94, 0.91]]]], method=\"bicubic\", padding_mode=\"border\", align_corners=False"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.77, -0.12, -0.58], [-1.43, -0.83, -0.37]], [[0.06, -0.37, "
     "0.77], [-0.94, -0.83, 0.06]]]], method=\"bicubic\", padding_mode=\"reflection\", align_corners=True"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.21, 0.77, -0.58], [-0.12, 0.21, 1.37]], [[-0.83, -0.37, -0.12], "
     "[0.21, 2.21, 0.06]]]], method=\"nearest\", align_corners=True"},
    {"rand((1, 3, 4, 2), \"float32\"), [[[[-0.12, 0.43], [-0.37, 0.77]], [[-0.94, -0.12], [-0.83, -0.58]]]], "
     "layout=\"NHWC\", align_corners=True"},
    {"rand((1, 1, 3, 4, 5), \"float32\"), [[[[[-0.12, -0.58]], [[-0.58, 0.43]]], [[[0.91, 0.21]], [[0.91, "
     "0.06]]], [[[-0.12, 0.06]], [[0.06, 0.21]]]]], layout=\"NCDHW\", align_corners=True"},
    {"rand((1, 1, 3, 2, 3), \"float32\"), [[[[[-0.12, 0.21], [-0.83, -0.94]]], [[[0.91, -0.12], [-0.37, "
     "0.77]]], [[[-0.37, 0.21], [0.43, -0.83]]]]], layout=\"NCDHW\", method=\"trilinear\", "
     "padding_mode=\"reflection\", align_corners=False"},
    {"rand((0, 1, 3, 3), \"float32\"), rand((0, 2, 2, 2), \"float32\"), align_corners=True"},
};
constexpr Reject rejects_sample[] = {
    {"grid_sample.grid", "rand((1, 2, 3, 3), \"float32\"), rand((1, 3, 2, 2), \"float32\")",
     "grid has 3 coordinates for a point, expected 2"},
    {"grid_sample.rank", "rand((1, 2, 3, 3), \"float32\"), rand((2, 2), \"float32\")",
     "grid has rank 2, expected 4"},
    {"grid_sample.shape", "rand((1, 2, 3, 3), \"float32\"), rand((2, 2, 2, 2), \"float32\")", "1 and 2"},
    {"grid_sample.method",
     "rand((1, 2, 3, 3), \"float32\"), rand((1, 2, 2, 2), \"float32\"), method=\"area\"",
     "expected nearest, bilinear or bicubic"},
    {"grid_sample.padding_mode",
     "rand((1, 2, 3, 3), \"float32\"), rand((1, 2, 2, 2), \"float32\"), padding_mode=\"wrap\"",
     "expected zeros, border or reflection"},
    {"grid_sample.layout", "rand((1, 2, 3, 3), \"float32\"), rand((1, 2, 2, 2), \"float32\"), layout=\"NCW\"",
     "expected 4 or 5"},
    {"grid_sample.dtype", "rand((1, 2, 3, 3), \"float32\"), rand((1, 2, 2, 2), \"float64\")",
     "expected the same"},
};

}  // namespace

extern const Op op_image_grid_sample = member_of<grid_sampling::Member{false, false}>(
    {.name = "image.grid_sample",
     .summary = "Values of an image or volume at the points of a grid.",
     .params = params_sample,
     .gradient_doc =
         "ddata = grad.grid_sample_data(g, grid, shape of data), dgrid = sum over channels of g * "
         "grad.grid_sample_derivative(data, grid)",
     .agreement = Agreement::Composite,
     .samples = samples_sample,
     .rejects = rejects_sample,
     .doc =
         "The result has the spatial sizes of the grid. Coordinates are computed in float64. The cubic "
         "kernel "
         "has the coefficient -3/4. border and reflection move the point, for bicubic each of its cells; the "
         "slope by a point moved onto the border is 0, of nearest it is 0 everywhere."});

}  // namespace relish::ops_image_grid_sample

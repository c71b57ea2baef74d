// The derivatives of sampling at a grid.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/grid_sampling.h"

namespace relish::ops_grad_grid_sample {
namespace {

constexpr Param order_param = {"order", ParamKind::Attribute, "int or list[int]", "0",
                               "order of the derivative along each spatial dimension of data"};
constexpr Param params_derivative[] = {windows::data_param,
                                       grid_sampling::grid_param,
                                       grid_sampling::method_param,
                                       grid_sampling::layout_param,
                                       grid_sampling::padding_mode_param,
                                       grid_sampling::align_corners_param,
                                       order_param};
constexpr Param params_data[] = {{"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the samples"},
                                 grid_sampling::grid_param,
                                 {"shape", ParamKind::Shape, "shape", "", "shape of the data"},
                                 grid_sampling::method_param,
                                 grid_sampling::layout_param,
                                 grid_sampling::padding_mode_param,
                                 grid_sampling::align_corners_param,
                                 order_param};

constexpr Sample samples_derivative[] = {
    {"[[[[1.0, 3.0], [5.0, 7.0]]]], [[[[0.2]], [[0.3]]]], order=[0, 1], align_corners=True", "[[[[1.0]]]]",
     false},
    {"[[[[1.0, 3.0], [5.0, 7.0]]]], [[[[0.2]], [[0.3]]]], method=\"bicubic\", order=[0, 2147483647], align_corners=True",
     "[[[[0.0]]]]", false},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.06, 0.43], [-0.94, -0.83]], [[-0.94, 0.21], [0.43, -0.83]]]], "
     "order=[1, 0], align_corners=True"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[-0.83, 0.91], [-0.37, -0.58]], [[-0.12, -0.83], [-0.12, "
     "-0.37]]]], align_corners=False, order=[0, 1], padding_mode=\"border\""},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[-0.37, 0.21], [-0.12, 0.43]], [[0.21, 0.91], [-0.83, -0.83]]]], "
     "order=[1, 1], padding_mode=\"reflection\", align_corners=True"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[-0.94, -0.12], [0.21, 0.43]], [[0.91, 0.06], [0.06, -0.12]]]], "
     "method=\"bicubic\", order=[0, 1], align_corners=True"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.06, 0.77], [-0.94, -0.83]], [[0.21, -0.83], [-0.58, 0.77]]]], "
     "method=\"bicubic\", order=[2, 1], padding_mode=\"border\", align_corners=False"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.06, 0.77], [-0.12, 0.77]], [[-0.12, 0.43], [-0.58, 0.43]]]], "
     "method=\"bicubic\", order=[1, 1], padding_mode=\"reflection\", align_corners=True"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.77, -0.83], [-0.83, 0.43]], [[-0.37, -0.83], [0.06, -0.12]]]], "
     "order=[2, 0], align_corners=True"},
    {"rand((1, 1, 3, 3, 4), \"float32\"), [[[[[-0.58, 0.77]], [[0.21, -0.12]]], [[[-0.58, -0.94]], [[0.43, "
     "0.06]]], [[[0.43, -0.58]], [[-0.94, -0.83]]]]], layout=\"NCDHW\", order=[0, 1, 1], align_corners=True"},
};
constexpr Reject rejects_derivative[] = {
    {"grid_sample_derivative.order",
     "rand((1, 2, 3, 3), \"float32\"), rand((1, 2, 2, 2), \"float32\"), order=-1", "expected at least 0"},
    {"grid_sample_derivative.grid", "rand((1, 2, 3, 3), \"float32\"), rand((1, 3, 2, 2), \"float32\")",
     "expected 2"},
};

constexpr Sample samples_data[] = {
    {"[[[[8.0]]]], [[[[0.0]], [[0.0]]]], R.shape([1, 1, 2, 2]), align_corners=True",
     "[[[[2.0, 2.0], [2.0, 2.0]]]]", false},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[0.91, 0.43], [0.77, 0.21]], [[0.91, 0.77], [-0.37, 0.06]]]], "
     "R.shape([1, 2, 4, 5]), align_corners=True"},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[0.21, 0.06], [0.06, -0.12]], [[0.21, 0.21], [0.06, 0.43]]]], "
     "R.shape([1, 2, 4, 5]), align_corners=False, order=[0, 1], padding_mode=\"border\""},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[0.43, -0.83], [0.06, 0.91]], [[0.77, -0.58], [-0.83, -0.12]]]], "
     "R.shape([1, 2, 4, 5]), order=[1, 1], padding_mode=\"reflection\", align_corners=True"},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[-0.94, 0.21], [0.91, 0.06]], [[0.91, 0.06], [0.77, 0.91]]]], "
     "R.shape([1, 2, 4, 5]), method=\"bicubic\", align_corners=True"},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[-0.12, 0.91], [0.06, 0.43]], [[0.91, 0.91], [-0.58, 0.21]]]], "
     "R.shape([1, 2, 4, 5]), method=\"bicubic\", order=[1, 0], padding_mode=\"reflection\", "
     "align_corners=False"},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[-0.37, 0.21], [-0.12, 0.43]], [[-0.37, -0.12], [0.43, -0.37]]]], "
     "R.shape([1, 2, 4, 5]), method=\"nearest\", align_corners=True"},
    {"rand((1, 1, 2, 1, 2), \"float32\"), [[[[[0.91, -0.12]], [[0.06, 0.21]]], [[[0.77, 0.43]], [[0.77, "
     "-0.83]]], [[[0.91, 0.77]], [[0.77, -0.37]]]]], R.shape([1, 1, 3, 3, 4]), layout=\"NCDHW\", align_corners=True"},
    {"rand((1, 2, 2, 1), \"float32\"), [[[[-0.94, -0.12], [-0.37, 0.21]], [[0.91, 0.43], [0.77, -0.12]]]], "
     "R.shape([1, 3, 4, 1]), layout=\"NHWC\", align_corners=True"},
};
constexpr Reject rejects_data[] = {
    {"grid_sample_data.shape",
     "rand((1, 2, 2, 3), \"float32\"), rand((1, 2, 2, 2), \"float32\"), R.shape([1, 2, 4, 4])",
     "the points of output_grad and grid differ"},
    {"grid_sample_data.shape",
     "rand((1, 2, 2, 2), \"float32\"), rand((1, 2, 2, 2), \"float32\"), R.shape([1, 3, 4, 4])", "channels"},
    {"grid_sample_data.rank",
     "rand((1, 2, 2, 2), \"float32\"), rand((1, 2, 2, 2), \"float32\"), R.shape([1, 2, 4])", "expected 4"},
};

}  // namespace

extern const Op op_grad_grid_sample_derivative = member_of<grid_sampling::Member{false, true}>(
    {.name = "grad.grid_sample_derivative",
     .summary = "Derivatives of image.grid_sample by the coordinates of its points.",
     .params = params_derivative,
     .gradient_doc =
         "ddata = grad.grid_sample_data(g, grid), dgrid = sum over channels of g * the derivative of one "
         "order more",
     .agreement = Agreement::Composite,
     .samples = samples_derivative,
     .rejects = rejects_derivative,
     .doc =
         "Order (0, 1) of an image is the slope along x, in units of the grid. TVM has no such operator."});

extern const Op op_grad_grid_sample_data = member_of<grid_sampling::Member{true, true}>(
    {.name = "grad.grid_sample_data",
     .summary = "Gradient of image.grid_sample and its derivatives for the data.",
     .params = params_data,
     .gradient_doc = "doutput_grad = grad.grid_sample_derivative(g, grid), dgrid = sum over channels of "
                     "output_grad * the "
                     "derivative of g of one order more",
     .agreement = Agreement::Composite,
     .samples = samples_data,
     .rejects = rejects_data,
     .doc = "Each value is added to the cells that its point read, with the same weights. TVM has no such "
            "operator."});

}  // namespace relish::ops_grad_grid_sample

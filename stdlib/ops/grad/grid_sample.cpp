// The derivatives of sampling at a grid.
#include "stdlib/families/grid_sampling.h"

namespace relish {
namespace {

template <bool transposed, bool ordered>
constexpr grid_sampling::Member member{transposed, ordered};

template <bool transposed, bool ordered>
Type infer(const CallView& call) {
  return grid_sampling::infer(call, member<transposed, ordered>);
}
template <bool transposed, bool ordered>
Value evaluate(const EvalCall& call) {
  return grid_sampling::evaluate(call, member<transposed, ordered>);
}
template <bool transposed, bool ordered>
PrimFunc lower(const LowerCall& call) {
  return grid_sampling::lower(call, member<transposed, ordered>);
}
template <bool transposed, bool ordered>
Partials vjp(const VjpCall& call) {
  return grid_sampling::vjp(call, member<transposed, ordered>);
}

constexpr Param params_derivative[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input, in the order of layout"},
    {"grid", ParamKind::Tensor, "tensor", "", "points (batch, 2 or 3, spatial): x, y and z from -1 to 1"},
    {"method", ParamKind::Attribute, "str", "\"bilinear\"", "nearest, bilinear (also trilinear) or bicubic"},
    {"layout", ParamKind::Attribute, "str", "\"NCHW\"", "order of the dimensions of data and result"},
    {"padding_mode", ParamKind::Attribute, "str", "\"zeros\"",
     "outside of the data: zeros, border or reflection"},
    {"align_corners", ParamKind::Attribute, "bool", "True",
     "-1 and 1 are the centres of the outer cells; else their outer borders"},
    {"order", ParamKind::Attribute, "int or list[int]", "0",
     "order of the derivative along each spatial dimension of data"}};
constexpr Param params_data[] = {
    {"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the samples"},
    {"grid", ParamKind::Tensor, "tensor", "", "points (batch, 2 or 3, spatial): x, y and z from -1 to 1"},
    {"shape", ParamKind::Shape, "shape", "", "shape of the data"},
    {"method", ParamKind::Attribute, "str", "\"bilinear\"", "nearest, bilinear (also trilinear) or bicubic"},
    {"layout", ParamKind::Attribute, "str", "\"NCHW\"", "order of the dimensions of data and result"},
    {"padding_mode", ParamKind::Attribute, "str", "\"zeros\"",
     "outside of the data: zeros, border or reflection"},
    {"align_corners", ParamKind::Attribute, "bool", "True",
     "-1 and 1 are the centres of the outer cells; else their outer borders"},
    {"order", ParamKind::Attribute, "int or list[int]", "0",
     "order of the derivative along each spatial dimension of data"}};

constexpr Sample samples_derivative[] = {
    {"[[[[1.0, 3.0], [5.0, 7.0]]]], [[[[0.2]], [[0.3]]]], order=[0, 1]", "[[[[1.0]]]]", false},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.06, 0.43], [-0.94, -0.83]], [[-0.94, 0.21], [0.43, -0.83]]]], "
     "order=[1, 0]"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[-0.83, 0.91], [-0.37, -0.58]], [[-0.12, -0.83], [-0.12, "
     "-0.37]]]], align_corners=False, order=[0, 1], padding_mode=\"border\""},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[-0.37, 0.21], [-0.12, 0.43]], [[0.21, 0.91], [-0.83, -0.83]]]], "
     "order=[1, 1], padding_mode=\"reflection\""},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[-0.94, -0.12], [0.21, 0.43]], [[0.91, 0.06], [0.06, -0.12]]]], "
     "method=\"bicubic\", order=[0, 1]"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.06, 0.77], [-0.94, -0.83]], [[0.21, -0.83], [-0.58, 0.77]]]], "
     "method=\"bicubic\", order=[2, 1], padding_mode=\"border\", align_corners=False"},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.06, 0.77], [-0.12, 0.77]], [[-0.12, 0.43], [-0.58, 0.43]]]], "
     "method=\"bicubic\", order=[1, 1], padding_mode=\"reflection\""},
    {"rand((1, 2, 4, 5), \"float32\"), [[[[0.77, -0.83], [-0.83, 0.43]], [[-0.37, -0.83], [0.06, -0.12]]]], "
     "order=[2, 0]"},
    {"rand((1, 1, 3, 3, 4), \"float32\"), [[[[[-0.58, 0.77]], [[0.21, -0.12]]], [[[-0.58, -0.94]], [[0.43, "
     "0.06]]], [[[0.43, -0.58]], [[-0.94, -0.83]]]]], layout=\"NCDHW\", order=[0, 1, 1]"},
};
constexpr Reject rejects_derivative[] = {
    {"grid_sample_derivative.order",
     "rand((1, 2, 3, 3), \"float32\"), rand((1, 2, 2, 2), \"float32\"), order=-1", "expected at least 0"},
    {"grid_sample_derivative.grid", "rand((1, 2, 3, 3), \"float32\"), rand((1, 3, 2, 2), \"float32\")",
     "expected 2"},
};

constexpr Sample samples_data[] = {
    {"[[[[8.0]]]], [[[[0.0]], [[0.0]]]], R.shape([1, 1, 2, 2])", "[[[[2.0, 2.0], [2.0, 2.0]]]]", false},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[0.91, 0.43], [0.77, 0.21]], [[0.91, 0.77], [-0.37, 0.06]]]], "
     "R.shape([1, 2, 4, 5])"},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[0.21, 0.06], [0.06, -0.12]], [[0.21, 0.21], [0.06, 0.43]]]], "
     "R.shape([1, 2, 4, 5]), align_corners=False, order=[0, 1], padding_mode=\"border\""},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[0.43, -0.83], [0.06, 0.91]], [[0.77, -0.58], [-0.83, -0.12]]]], "
     "R.shape([1, 2, 4, 5]), order=[1, 1], padding_mode=\"reflection\""},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[-0.94, 0.21], [0.91, 0.06]], [[0.91, 0.06], [0.77, 0.91]]]], "
     "R.shape([1, 2, 4, 5]), method=\"bicubic\""},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[-0.12, 0.91], [0.06, 0.43]], [[0.91, 0.91], [-0.58, 0.21]]]], "
     "R.shape([1, 2, 4, 5]), method=\"bicubic\", order=[1, 0], padding_mode=\"reflection\", "
     "align_corners=False"},
    {"rand((1, 2, 2, 2), \"float32\"), [[[[-0.37, 0.21], [-0.12, 0.43]], [[-0.37, -0.12], [0.43, -0.37]]]], "
     "R.shape([1, 2, 4, 5]), method=\"nearest\""},
    {"rand((1, 1, 2, 1, 2), \"float32\"), [[[[[0.91, -0.12]], [[0.06, 0.21]]], [[[0.77, 0.43]], [[0.77, "
     "-0.83]]], [[[0.91, 0.77]], [[0.77, -0.37]]]]], R.shape([1, 1, 3, 3, 4]), layout=\"NCDHW\""},
    {"rand((1, 2, 2, 1), \"float32\"), [[[[-0.94, -0.12], [-0.37, 0.21]], [[0.91, 0.43], [0.77, -0.12]]]], "
     "R.shape([1, 3, 4, 1]), layout=\"NHWC\""},
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

extern const Op op_grad_grid_sample_derivative{
    .name = "grad.grid_sample_derivative",
    .summary = "Derivatives of image.grid_sample by the coordinates of its points.",
    .params = params_derivative,
    .infer = infer<false, true>,
    .eval = evaluate<false, true>,
    .lower = lower<false, true>,
    .vjp = vjp<false, true>,
    .gradient_doc =
        "ddata = grad.grid_sample_data(g, grid), dgrid = sum over channels of g * the derivative of one "
        "order more",
    .agreement = Agreement::Composite,
    .samples = samples_derivative,
    .rejects = rejects_derivative,
    .doc = "Order (0, 1) of an image is the slope along x, in units of the grid. TVM has no such operator."};

extern const Op op_grad_grid_sample_data{
    .name = "grad.grid_sample_data",
    .summary = "Gradient of image.grid_sample and its derivatives for the data.",
    .params = params_data,
    .infer = infer<true, true>,
    .eval = evaluate<true, true>,
    .lower = lower<true, true>,
    .vjp = vjp<true, true>,
    .gradient_doc =
        "doutput_grad = grad.grid_sample_derivative(g, grid), dgrid = sum over channels of output_grad * the "
        "derivative of g of one order more",
    .agreement = Agreement::Composite,
    .samples = samples_data,
    .rejects = rejects_data,
    .doc =
        "Each value is added to the cells that its point read, with the same weights. TVM has no such "
        "operator."};

}  // namespace relish

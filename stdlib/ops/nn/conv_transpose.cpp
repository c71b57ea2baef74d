// Transposed convolutions over one, two and three spatial dimensions.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/convolution.h"

namespace relish::ops_nn_conv_transpose {
namespace {

using convolution::Role;

constexpr std::array<Param, 11> params_of(std::string_view ones, std::string_view zeros,
                                          std::string_view no_padding, std::string_view data_layout,
                                          std::string_view kernel_layout) {
  return {{{"data", ParamKind::Tensor, "tensor", "", "input, in the order of data_layout"},
           {"weight", ParamKind::Tensor, "tensor", "", "kernels, in the order of kernel_layout"},
           {"strides", ParamKind::Attribute, "int or list[int]", ones,
            "steps of the result from one position of data to the next"},
           {"padding", ParamKind::Attribute, "int or list[int]", zeros,
            "cut from the result: one number, one for each dimension, or all before and then all after"},
           {"output_padding", ParamKind::Attribute, "int or list[int]", no_padding,
            "added to the result's sizes behind; less than the strides"},
           {"dilation", ParamKind::Attribute, "int or list[int]", ones,
            "steps from one position of the kernel to the next"},
           {"groups", ParamKind::Attribute, "int", "1", "groups of channels that do not mix"},
           {"data_layout", ParamKind::Attribute, "str", data_layout, "order of the dimensions of data"},
           {"kernel_layout", ParamKind::Attribute, "str", kernel_layout,
            "order of the dimensions of weight; I are the channels of data"},
           {"out_layout", ParamKind::Attribute, "str or None", "None",
            "order of the dimensions of the result; None: as data_layout"},
           {"out_dtype", ParamKind::Attribute, "dtype or None", "None",
            "dtype of the result and of the sums; None: the operands'"}}};
}

constexpr std::string_view gradient_doc =
    "ddata = conv(g, weight with I and O exchanged), dweight = grad.conv_weight(data, g, shape of weight)";
constexpr std::string_view doc =
    "The transpose of a convolution as a linear map: position q of the result gets data[p] * weight[k] for "
    "every "
    "q = p * stride - padding + k * dilation. A spatial dimension of the result is (in - 1) * stride - "
    "padding "
    "+ "
    "dilation * (kernel - 1) + output_padding + 1. The output channels of weight are those of one group. All "
    "layouts are lowered.";

constexpr auto params_1d = params_of("[1]", "[0, 0]", "[0]", "\"NCW\"", "\"IOW\"");
constexpr auto params_2d = params_of("[1, 1]", "[0, 0, 0, 0]", "[0, 0]", "\"NCHW\"", "\"IOHW\"");
constexpr auto params_3d =
    params_of("[1, 1, 1]", "[0, 0, 0, 0, 0, 0]", "[0, 0, 0]", "\"NCDHW\"", "\"IODHW\"");

constexpr Sample samples_1d[] = {
    {"[[[1.0, 2.0]]], [[[1.0, 10.0, 100.0]]]", "[[[1.0, 12.0, 120.0, 200.0]]]"},
    {"[[[1.0, 2.0]]], [[[1.0, 10.0, 100.0]]], strides=2, padding=1, output_padding=1",
     "[[[10.0, 102.0, 20.0, 200.0]]]"},
    {"rand((2, 4, 5), \"float64\"), rand((4, 3, 3), \"float64\"), strides=3, padding=[1, 2], "
     "output_padding=2, dilation=2, groups=2"},
    {"rand((2, 6, 3), \"float32\"), rand((2, 5, 3), \"float32\"), data_layout=\"NWC\", "
     "kernel_layout=\"WOI\", out_layout=\"NCW\""},
    {"rand((0, 2, 5), \"float32\"), rand((2, 3, 2), \"float32\")"},
    {"rand((1, 1, 1), \"float64\"), rand((1, 1, 1), \"float64\")"},
};
constexpr Reject rejects_1d[] = {
    {"conv1d_transpose.channels", "rand((1, 3, 5), \"float32\"), rand((2, 2, 3), \"float32\")",
     "2 against 3"},
    {"conv1d_transpose.output_padding",
     "rand((1, 2, 5), \"float32\"), rand((2, 2, 3), \"float32\"), strides=2, output_padding=2",
     "expected less than the stride 2"},
    {"conv1d_transpose.padding", "rand((1, 2, 1), \"float32\"), rand((2, 2, 1), \"float32\"), padding=2",
     "which gives"},
};

constexpr Sample samples_2d[] = {
    {"[[[[1.0, 2.0]]]], [[[[1.0, 10.0], [100.0, 1000.0]]]]",
     "[[[[1.0, 12.0, 20.0], [100.0, 1200.0, "
     "2000.0]]]]"},
    {"rand((2, 3, 3, 4), \"float64\"), rand((3, 2, 3, 2), \"float64\"), strides=[2, 3], padding=1, "
     "output_padding=[1, 2]"},
    {"rand((1, 4, 4, 3), \"float64\"), rand((4, 3, 2, 3), \"float64\"), padding=[1, 0, 2, 1], dilation=[2, "
     "1], groups=2"},
    {"rand((2, 4, 5, 4), \"float32\"), rand((3, 3, 1, 4), \"float32\"), groups=4, padding=1, "
     "data_layout=\"NHWC\", kernel_layout=\"HWOI\""},
    {"rand((2, 2, 3, 3), \"float32\"), rand((2, 3, 3, 3), \"float32\"), strides=2, out_layout=\"NHWC\""},
    {"rand((2, 0, 3, 3), \"float32\"), rand((0, 2, 3, 3), \"float32\")"},
    {"rand((1, 2, 3, 3), \"float16\"), rand((2, 2, 2, 2), \"float16\"), out_dtype=\"float32\""},
};
constexpr Reject rejects_2d[] = {
    {"conv2d_transpose.channels", "rand((1, 4, 5, 5), \"float32\"), rand((2, 4, 3, 3), \"float32\")",
     "2 against 4"},
    {"conv2d_transpose.groups", "rand((1, 3, 5, 5), \"float32\"), rand((3, 2, 3, 3), \"float32\"), groups=2",
     "not a multiple"},
    {"conv2d_transpose.output_padding",
     "rand((1, 3, 5, 5), \"float32\"), rand((3, 2, 3, 3), \"float32\"), output_padding=[0, 1]",
     "expected less than the stride 1"},
    {"conv2d_transpose.layout",
     "rand((1, 3, 5, 5), \"float32\"), rand((3, 2, 3, 3), \"float32\"), out_layout=\"NC\"",
     "expected the letters NCHW"},
    {"conv2d_transpose.kernel", "rand((1, 3, 5, 5), \"float32\"), rand((3, 2, 0, 3), \"float32\")",
     "expected at least 1"},
    {"conv2d_transpose.dtype", "rand((1, 3, 5, 5), \"float32\"), rand((3, 2, 3, 3), \"float16\")",
     "expected the same"},
};

constexpr Sample samples_3d[] = {
    {"[[[[[1.0], [2.0]]]]], [[[[[1.0], [10.0]], [[100.0], [1000.0]]]]]",
     "[[[[[1.0], [12.0], [20.0]], [[100.0], [1200.0], [2000.0]]]]]"},
    {"rand((1, 2, 2, 3, 2), \"float64\"), rand((2, 2, 2, 3, 2), \"float64\"), strides=[1, 2, 3], padding=1, "
     "output_padding=[0, 1, 2], groups=2"},
    {"rand((1, 2, 3, 2, 3), \"float64\"), rand((2, 2, 2, 2, 2), \"float64\"), padding=[1, 0, 2, 0, 1, 0], "
     "dilation=[2, 1, 1]"},
    {"rand((2, 3, 2, 3, 2), \"float32\"), rand((2, 2, 2, 3, 2), \"float32\"), data_layout=\"NDHWC\", "
     "kernel_layout=\"DHWOI\""},
    {"rand((0, 1, 2, 2, 2), \"float32\"), rand((1, 1, 2, 2, 2), \"float32\")"},
};
constexpr Reject rejects_3d[] = {
    {"conv3d_transpose.channels", "rand((1, 3, 5, 5, 5), \"float32\"), rand((2, 2, 3, 3, 3), \"float32\")",
     "2 against 3"},
    {"conv3d_transpose.rank", "rand((1, 3, 5, 5), \"float32\"), rand((3, 3, 3, 3, 3), \"float32\")",
     "expected 5"},
};

// What all ranks share.
template <int rank>
constexpr Op transposed_convolution_over(Op op) {
  op.gradient_doc = gradient_doc;
  op.agreement = Agreement::Sum;
  op.doc = doc;
  return member_of<convolution::Member{
      .target = Role::Data, .operands = {Role::Windows, Role::Kernel}, .rank = rank, .transposed = true}>(op);
}

}  // namespace

extern const Op op_nn_conv1d_transpose =
    transposed_convolution_over<1>({.name = "nn.conv1d_transpose",
                                    .summary = "Transposed convolution over one spatial dimension.",
                                    .params = params_1d,
                                    .samples = samples_1d,
                                    .rejects = rejects_1d});

extern const Op op_nn_conv2d_transpose =
    transposed_convolution_over<2>({.name = "nn.conv2d_transpose",
                                    .summary = "Transposed convolution over two spatial dimensions.",
                                    .params = params_2d,
                                    .samples = samples_2d,
                                    .rejects = rejects_2d});

extern const Op op_nn_conv3d_transpose =
    transposed_convolution_over<3>({.name = "nn.conv3d_transpose",
                                    .summary = "Transposed convolution over three spatial dimensions.",
                                    .params = params_3d,
                                    .samples = samples_3d,
                                    .rejects = rejects_3d});

}  // namespace relish::ops_nn_conv_transpose

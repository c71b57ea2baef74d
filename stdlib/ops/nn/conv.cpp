// Convolutions over one, two and three spatial dimensions.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/convolution.h"

namespace relish::ops_nn_conv {
namespace {

using convolution::Role;

constexpr std::array<Param, 10> params_of(int rank, std::string_view kernel_layout) {
  const std::string_view ones = windows::default_steps[rank], zeros = windows::default_padding[rank],
                         data_layout = windows::default_layout[rank];
  return {{{"data", ParamKind::Tensor, "tensor", "", "input, in the order of data_layout"},
           {"weight", ParamKind::Tensor, "tensor", "", "kernels, in the order of kernel_layout"},
           {"strides", ParamKind::Attribute, "int or list[int]", ones, "steps from one window to the next"},
           {"padding", ParamKind::Attribute, "int or list[int]", zeros,
            "zeros around the data: one number, one for each dimension, or all before and then all after"},
           {"dilation", ParamKind::Attribute, "int or list[int]", ones,
            "steps from one position of the kernel to the next"},
           {"groups", ParamKind::Attribute, "int", "1",
            "channels and kernels are split into so many groups that do not mix"},
           {"data_layout", ParamKind::Attribute, "str", data_layout, "order of the dimensions of data"},
           {"kernel_layout", ParamKind::Attribute, "str", kernel_layout, "order of the dimensions of weight"},
           {"out_layout", ParamKind::Attribute, "str or None", "None",
            "order of the dimensions of the result; None: as data_layout"},
           {"out_dtype", ParamKind::Attribute, "dtype or None", "None",
            "dtype of the result and of the sums; None: the operands'"}}};
}

constexpr std::string_view gradient_doc =
    "ddata = conv_transpose(g, weight) with the output_padding that restores the shape of data, dweight = "
    "grad.conv_weight(g, data, shape of weight)";
constexpr std::string_view doc =
    "What other fields call a cross-correlation: the kernel is not mirrored. A spatial dimension of the "
    "result "
    "has floor((in + padding - dilation * (kernel - 1) - 1) / stride) + 1 windows, at least 1. The input "
    "channels "
    "of weight are those of data divided by groups. Layouts are permutations of their letters; in a blocked "
    "one, as NCHW16c with OIHW16i16o, a number and a small letter stand for a last dimension of so many "
    "neighbours, and the letter's own counts the blocks. With out_dtype the operands are converted first. "
    "Positions in the padding "
    "add "
    "nothing, also beside infinite weights. The interpreter accumulates floats in float64; a lowered "
    "convolution "
    "in the result's dtype, 16-bit floats in float32. When a spatial dimension is symbolic and its stride is "
    "not 1, "
    "the gradient for data is grad.conv_data.";

constexpr auto params_1d = params_of(1, "\"OIW\"");
constexpr auto params_2d = params_of(2, "\"OIHW\"");
constexpr auto params_3d = params_of(3, "\"OIDHW\"");

constexpr Sample samples_1d[] = {
    {"[[[1.0, 2.0, 3.0, 4.0]]], [[[1.0, 10.0]]]", "[[[21.0, 32.0, 43.0]]]"},
    {"[[[1.0, 2.0, 3.0, 4.0]]], [[[1.0, 10.0]]], strides=2, padding=1", "[[[10.0, 32.0, 4.0]]]"},
    {"rand((2, 4, 9), \"float64\"), rand((6, 2, 3), \"float64\"), strides=2, padding=[1, 2], dilation=2, "
     "groups=2"},
    {"rand((2, 7, 3), \"float32\"), rand((2, 3, 5), \"float32\"), data_layout=\"NWC\", "
     "kernel_layout=\"WIO\", out_layout=\"NCW\""},
    {"rand((0, 2, 5), \"float32\"), rand((3, 2, 2), \"float32\")"},
    {"rand((1, 1, 1), \"float64\"), rand((1, 1, 1), \"float64\")"},
    {"rand((1, 2, 6), \"float64\"), rand((2, 2, 2), \"float64\"), strides=3"},
};
constexpr Reject rejects_1d[] = {
    {"conv1d.channels", "rand((1, 3, 5), \"float32\"), rand((2, 2, 3), \"float32\")", "3 against 2"},
    {"conv1d.kernel", "rand((1, 3, 2), \"float32\"), rand((2, 3, 3), \"float32\")",
     "the kernel spans 3 and the padded data 2"},
    {"conv1d.rank", "rand((3, 2), \"float32\"), rand((2, 3, 3), \"float32\")", "expected 3"},
    {"conv1d.padding", "rand((1, 3, 5), \"float32\"), rand((2, 3, 3), \"float32\"), padding=[1, 1, 1]",
     "expected 1, 2"},
};

constexpr Sample samples_2d[] = {
    {"[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]], [[[[1.0, 10.0], [100.0, 1000.0]]]]", "[[[[5421.0, 6532.0]]]]"},
    {"[[[[1.0, 2.0]], [[3.0, 4.0]]]], [[[[1.0, 10.0]]], [[[2.0, 0.0]]]], data_layout=\"NHWC\", "
     "kernel_layout=\"OHWI\"",
     "[[[[21.0, 2.0]], [[43.0, 6.0]]]]"},
    {"rand((2, 3, 8, 9), \"float64\"), rand((4, 3, 3, 2), \"float64\"), strides=[2, 3], padding=1"},
    {"rand((1, 4, 7, 6), \"float64\"), rand((6, 2, 2, 3), \"float64\"), padding=[1, 0, 2, 3], dilation=[2, "
     "1], groups=2"},
    {"rand((2, 6, 5, 4), \"float32\"), rand((3, 3, 1, 4), \"float32\"), groups=4, padding=1, "
     "data_layout=\"NHWC\", kernel_layout=\"HWIO\""},
    {"rand((2, 2, 5, 5), \"float32\"), rand((3, 2, 3, 3), \"float32\"), strides=2, out_layout=\"NHWC\""},
    {"rand((1, 3, 6, 6), \"float64\"), rand((2, 3, 2, 2), \"float64\"), strides=3, dilation=2"},
    {"rand((2, 0, 5, 5), \"float32\"), rand((3, 0, 3, 3), \"float32\")"},
    {"[[[[[1.0, 2.0], [3.0, 4.0]]]]], [[[[[[1.0, 10.0], [100.0, 1000.0]]]]]], data_layout=\"NCHW2c\", "
     "kernel_layout=\"OIHW2i2o\"",
     "[[[[[201.0, 2010.0], [403.0, 4030.0]]]]]"},
    {"[[[[[1.0, 2.0], [3.0, 4.0]]]]], [[[[[1.0, 10.0]]], [[[2.0, 20.0]]]]], data_layout=\"NCHW2c\", "
     "kernel_layout=\"OIHW2o\", out_layout=\"NHWC\"",
     "[[[[5.0, 50.0], [11.0, 110.0]]]]"},
    {"rand((1, 5, 4, 1, 4), \"float64\"), rand((2, 3, 2, 1, 2, 3), \"float64\"), groups=2, strides=[2, 1], "
     "data_layout=\"NHWC4c\", kernel_layout=\"OHWI2i3o\", out_layout=\"NHWC3c\""},
    {"rand((1, 1, 1, 2), \"float64\"), rand((1, 1, 1, 1), \"float64\")"},
    {"rand((1, 2, 4, 4), \"float16\"), rand((2, 2, 3, 3), \"float16\"), out_dtype=\"float32\""},
};
constexpr Reject rejects_2d[] = {
    {"conv2d.channels", "rand((1, 4, 5, 5), \"float32\"), rand((2, 4, 3, 3), \"float32\"), groups=2",
     "4 against 8"},
    {"conv2d.groups", "rand((1, 4, 5, 5), \"float32\"), rand((3, 2, 3, 3), \"float32\"), groups=2",
     "not a multiple of the 2 groups"},
    {"conv2d.groups", "rand((1, 4, 5, 5), \"float32\"), rand((3, 2, 3, 3), \"float32\"), groups=0",
     "expected at least 1"},
    {"conv2d.kernel", "rand((1, 4, 5, 5), \"float32\"), rand((3, 4, 6, 3), \"float32\")",
     "the kernel spans 6 and the padded data 5"},
    {"conv2d.kernel", "rand((1, 4, 5, 5), \"float32\"), rand((3, 4, 0, 3), \"float32\")",
     "expected at least 1"},
    {"conv2d.rank",
     "rand((1, 4, 5, 5), \"float32\"), rand((3, 4, 3, 3), \"float32\"), "
     "data_layout=\"NCHW16c\"",
     "expected 5 for the layout NCHW16c"},
    {"conv2d.layout",
     "rand((1, 1, 5, 5, 4), \"float32\"), rand((4, 8, 3, 3), \"float32\"), data_layout=\"NCHW8c\"",
     "dimension 4 of data is 4, expected the blocks of 8"},
    {"conv2d.layout",
     "rand((1, 1, 5, 5, 4), \"float32\"), rand((6, 4, 3, 3), \"float32\"), data_layout=\"NCHW4c\"",
     "holds blocks of 4 where the dimension is 6"},
    {"conv2d.layout",
     "rand((1, 1, 5, 5, 4), \"float32\"), rand((4, 4, 3, 3), \"float32\"), data_layout=\"NCHWc\"",
     "expected the letters NCHW"},
    {"conv2d.layout",
     "rand((1, 1, 5, 5, 2, 2), \"float32\"), rand((4, 4, 3, 3), \"float32\"), "
     "data_layout=\"NCHW2c2c\"",
     "a block as 4c once for each"},
    {"conv2d.layout",
     "rand((1, 4, 5, 5), \"float32\"), rand((3, 4, 3, 3), \"float32\"), "
     "kernel_layout=\"OIHH\"",
     "expected the letters OIHW"},
    {"conv2d.strides", "rand((1, 4, 5, 5), \"float32\"), rand((3, 4, 3, 3), \"float32\"), strides=0",
     "expected at least 1"},
    {"conv2d.dilation",
     "rand((1, 4, 5, 5), \"float32\"), rand((3, 4, 3, 3), \"float32\"), dilation=[1, 1, "
     "1]",
     "expected 1 or 2"},
    {"conv2d.padding", "rand((1, 4, 5, 5), \"float32\"), rand((3, 4, 3, 3), \"float32\"), padding=[1, 2, 3]",
     "expected 1, 2 or 4"},
    {"conv2d.padding", "rand((1, 4, 5, 5), \"float32\"), rand((3, 4, 3, 3), \"float32\"), padding=-1",
     "expected at least 0"},
    {"conv2d.rank", "rand((1, 4, 5), \"float32\"), rand((3, 4, 3, 3), \"float32\")", "expected 4"},
    {"conv2d.dtype", "rand((1, 4, 5, 5), \"float32\"), rand((3, 4, 3, 3), \"float64\")", "expected the same"},
};

constexpr Sample samples_3d[] = {
    {"[[[[[1.0], [2.0]], [[3.0], [4.0]]]]], [[[[[1.0], [10.0]], [[100.0], [1000.0]]]]]", "[[[[[4321.0]]]]]"},
    {"rand((1, 2, 5, 4, 6), \"float64\"), rand((4, 1, 2, 3, 2), \"float64\"), strides=[1, 2, 3], padding=1, "
     "groups=2"},
    {"rand((1, 2, 5, 4, 3), \"float64\"), rand((2, 2, 2, 2, 2), \"float64\"), padding=[1, 0, 2, 0, 1, 0], "
     "dilation=[2, 1, 1]"},
    {"rand((2, 3, 4, 3, 2), \"float32\"), rand((2, 2, 2, 2, 3), \"float32\"), data_layout=\"NDHWC\", "
     "kernel_layout=\"DHWIO\""},
    {"rand((0, 1, 2, 2, 2), \"float32\"), rand((1, 1, 2, 2, 2), \"float32\")"},
    {"rand((1, 1, 3, 3, 3), \"float64\"), rand((1, 1, 2, 2, 2), \"float64\"), strides=2"},
};
constexpr Reject rejects_3d[] = {
    {"conv3d.channels", "rand((1, 3, 5, 5, 5), \"float32\"), rand((2, 2, 3, 3, 3), \"float32\")",
     "3 against 2"},
    {"conv3d.rank", "rand((1, 3, 5, 5), \"float32\"), rand((2, 3, 3, 3, 3), \"float32\")", "expected 5"},
    {"conv3d.padding",
     "rand((1, 3, 5, 5, 5), \"float32\"), rand((2, 3, 3, 3, 3), \"float32\"), padding=[1, "
     "1]",
     "expected 1, 3 or 6"},
};

// What all ranks share.
template <int rank>
constexpr Op convolution_over(Op op) {
  op.gradient_doc = gradient_doc;
  op.agreement = Agreement::Sum;
  op.doc = doc;
  return member_of<convolution::Member{Role::Windows, {Role::Data, Role::Kernel}, rank}>(op);
}

}  // namespace

extern const Op op_nn_conv1d = convolution_over<1>({.name = "nn.conv1d",
                                                    .summary = "Convolution over one spatial dimension.",
                                                    .params = params_1d,
                                                    .samples = samples_1d,
                                                    .rejects = rejects_1d});

extern const Op op_nn_conv2d = convolution_over<2>({.name = "nn.conv2d",
                                                    .summary = "Convolution over two spatial dimensions.",
                                                    .params = params_2d,
                                                    .samples = samples_2d,
                                                    .rejects = rejects_2d});

extern const Op op_nn_conv3d = convolution_over<3>({.name = "nn.conv3d",
                                                    .summary = "Convolution over three spatial dimensions.",
                                                    .params = params_3d,
                                                    .samples = samples_3d,
                                                    .rejects = rejects_3d});

}  // namespace relish::ops_nn_conv

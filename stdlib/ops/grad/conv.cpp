// The gradients of convolutions for data and for kernels, of any number of spatial dimensions.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/convolution.h"

namespace relish::ops_grad_conv {
namespace {

using convolution::Member;
using convolution::Role;

constexpr Member data_member{.target = Role::Data, .operands = {Role::Windows, Role::Kernel}, .sized = true};
constexpr Member weight_member{
    .target = Role::Kernel, .operands = {Role::Windows, Role::Data}, .sized = true};

constexpr std::array<Param, 10> params_of(Param other, std::string_view shape_doc) {
  return {{{"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the convolution's result"},
           other,
           {"shape", ParamKind::Shape, "shape", "", shape_doc},
           {"strides", ParamKind::Attribute, "int or list[int]", "1", "as of the convolution"},
           {"padding", ParamKind::Attribute, "int or list[int]", "0", "as of the convolution"},
           {"dilation", ParamKind::Attribute, "int or list[int]", "1", "as of the convolution"},
           {"groups", ParamKind::Attribute, "int", "1", "as of the convolution"},
           {"data_layout", ParamKind::Attribute, "str", "\"NCHW\"",
            "as of the convolution; its length tells the number of spatial dimensions"},
           {"kernel_layout", ParamKind::Attribute, "str", "\"OIHW\"", "as of the convolution"},
           {"out_layout", ParamKind::Attribute, "str or None", "None", "as of the convolution"}}};
}
constexpr auto data_params =
    params_of({"weight", ParamKind::Tensor, "tensor", "", "kernels"}, "shape of the convolution's data");
constexpr auto weight_params =
    params_of({"data", ParamKind::Tensor, "tensor", "", "input of the convolution"}, "shape of the kernels");

constexpr Sample data_samples[] = {
    {"[[[[1.0, 2.0]]]], [[[[1.0, 10.0]]]], R.shape([1, 1, 1, 3])", "[[[[1.0, 12.0, 20.0]]]]"},
    {"[[[[1.0, 2.0]]]], [[[[1.0, 10.0]]]], R.shape([1, 1, 2, 5]), strides=2",
     "[[[[1.0, 10.0, 2.0, 20.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]]]]"},
    {"rand((2, 6, 4, 3), \"float64\"), rand((6, 2, 3, 2), \"float64\"), R.shape([2, 4, 8, 8]), strides=[2, "
     "3], padding=1, groups=2"},
    {"rand((1, 2, 3), \"float64\"), rand((2, 3, 2), \"float64\"), R.shape([1, 3, 7]), strides=2, "
     "dilation=2, data_layout=\"NCW\", kernel_layout=\"OIW\""},
    {"rand((1, 2, 2, 3, 2), \"float32\"), rand((2, 2, 2, 3, 2), \"float32\"), R.shape([1, 3, 4, 3, 3]), "
     "data_layout=\"NDHWC\", kernel_layout=\"DHWIO\", out_layout=\"NCDHW\""},
    {"rand((0, 2, 3, 3), \"float32\"), rand((2, 1, 2, 2), \"float32\"), R.shape([0, 1, 4, 4])"},
};
constexpr Reject data_rejects[] = {
    {"conv_data.windows",
     "rand((1, 2, 3, 3), \"float32\"), rand((2, 1, 2, 2), \"float32\"), R.shape([1, 1, 5, 4])",
     "another number of windows"},
    {"conv_data.channels",
     "rand((1, 2, 3, 3), \"float32\"), rand((2, 1, 2, 2), \"float32\"), R.shape([1, 2, 4, 4])",
     "2 against 1"},
    {"conv_data.batch",
     "rand((1, 2, 3, 3), \"float32\"), rand((2, 1, 2, 2), \"float32\"), R.shape([2, 1, 4, 4])",
     "batches differ"},
    {"conv_data.rank", "rand((1, 2, 3, 3), \"float32\"), rand((2, 1, 2, 2), \"float32\"), R.shape([1, 1, 4])",
     "expected 4"},
    {"conv_data.layout",
     "rand((1, 2, 3, 3), \"float32\"), rand((2, 1, 2, 2), \"float32\"), R.shape([1, 1, 4, 4]), "
     "data_layout=\"NC\"",
     "expected 3, 4 or 5"},
};

constexpr Sample weight_samples[] = {
    {"[[[[1.0, 10.0]]]], [[[[1.0, 2.0, 3.0]]]], R.shape([1, 1, 1, 2])", "[[[[21.0, 32.0]]]]"},
    {"[[[[1.0, 10.0]]]], [[[[1.0, 2.0, 3.0, 4.0]]]], R.shape([1, 1, 1, 2]), strides=[1, 2]",
     "[[[[31.0, 42.0]]]]"},
    {"rand((2, 6, 4, 3), \"float64\"), rand((2, 4, 8, 8), \"float64\"), R.shape([6, 2, 3, 2]), strides=[2, "
     "3], padding=1, groups=2"},
    {"rand((1, 2, 3), \"float64\"), rand((1, 3, 7), \"float64\"), R.shape([2, 3, 2]), strides=2, "
     "dilation=2, data_layout=\"NCW\", kernel_layout=\"OIW\""},
    {"rand((1, 2, 3, 2, 2), \"float32\"), rand((1, 4, 3, 3, 3), \"float32\"), R.shape([2, 2, 2, 3, 2]), "
     "data_layout=\"NDHWC\", kernel_layout=\"DHWIO\", out_layout=\"NCDHW\""},
    {"rand((0, 2, 3, 3), \"float32\"), rand((0, 1, 4, 4), \"float32\"), R.shape([2, 1, 2, 2])"},
};
constexpr Reject weight_rejects[] = {
    {"conv_weight.windows",
     "rand((1, 2, 3, 3), \"float32\"), rand((1, 1, 5, 4), \"float32\"), R.shape([2, 1, 2, 2])",
     "another number of windows"},
    {"conv_weight.channels",
     "rand((1, 2, 3, 3), \"float32\"), rand((1, 1, 4, 4), \"float32\"), R.shape([3, 1, 2, 2])",
     "3 against 2"},
    {"conv_weight.batch",
     "rand((1, 2, 3, 3), \"float32\"), rand((2, 1, 4, 4), \"float32\"), R.shape([2, 1, 2, 2])",
     "batches differ"},
};

}  // namespace

extern const Op op_grad_conv_data = member_of<data_member>(
    {.name = "grad.conv_data",
     .summary = "Gradient of a convolution for its data.",
     .params = data_params,
     .gradient_doc = "doutput_grad = conv(g, weight), dweight = grad.conv_weight(output_grad, g)",
     .agreement = Agreement::Sum,
     .samples = data_samples,
     .rejects = data_rejects,
     .doc =
         "A transposed convolution with the shape of its result as an argument, so that it may be symbolic. "
         "TVM has no such operator."});

extern const Op op_grad_conv_weight = member_of<weight_member>(
    {.name = "grad.conv_weight",
     .summary = "Gradient of a convolution for its kernels.",
     .params = weight_params,
     .gradient_doc = "doutput_grad = conv(data, g), ddata = conv_transpose(output_grad, g)",
     .agreement = Agreement::Sum,
     .samples = weight_samples,
     .rejects = weight_rejects,
     .doc =
         "Sums output_grad times data over the batch and all windows, for every position of the kernel. TVM "
         "composes it from a convolution with exchanged roles and a slice."});

}  // namespace relish::ops_grad_conv

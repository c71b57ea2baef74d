// The gradient of the gradients of maximum pools.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/pooling.h"

namespace relish::ops_grad_max_pool_select {
namespace {

constexpr std::array<Param, 2> tensors = {
    {{"values", ParamKind::Tensor, "tensor", "", "what to choose from, shaped as data"},
     {"data", ParamKind::Tensor, "tensor", "", "input of the pool"}}};
constexpr auto params_any = pooling::params_of<0>(tensors, "False");

constexpr std::string_view gradient_doc = "dvalues = grad.max_pool_backward(g, data)";
constexpr std::string_view doc =
    "The length of layout tells the number of spatial dimensions. A window without a cell of data gives 0. "
    "TVM has no such operator.";

constexpr Sample samples_any[] = {
    {"[[[[10.0, 20.0], [30.0, 40.0]]]], [[[[3.0, 4.0], [4.0, 4.0]]]], pool_size=2", "[[[[20.0]]]]", false},
    {"rand((1, 1, 7), \"float32\"), [[[-1.0, 1.0, -0.5, 1.5, 0.0, -1.5, 0.5]]], pool_size=3, strides=2, "
     "padding=1, layout=\"NCW\""},
    {"rand((1, 1, 7), \"float32\"), [[[-1.0, -1.5, -0.5, 1.0, 1.5, 0.5, 0.0]]], pool_size=[2], strides=[3], "
     "padding=[1, 0], dilation=2, ceil_mode=True, layout=\"NCW\""},
    {"rand((1, 1, 5, 4), \"float32\"), [[[[-0.5, 1.0, 2.0, 3.0], [4.0, 3.5, 4.5, -1.5], [2.5, -4.0, 0.5, "
     "-4.5], [1.5, -2.0, -5.0, -2.5], [0.0, -3.5, -1.0, -3.0]]]], pool_size=[3, 2], strides=2, padding=1, "
     "layout=\"NCHW\""},
    {"rand((1, 1, 5, 4), \"float32\"), [[[[-3.0, -4.5, 0.5, 3.0], [4.5, -5.0, -2.0, 2.0], [0.0, -4.0, -1.0, "
     "-1.5], [1.0, -3.5, 3.5, 2.5], [-0.5, 4.0, 1.5, -2.5]]]], pool_size=2, strides=[2, 3], padding=[1, 0, "
     "0, 1], dilation=[2, 1], ceil_mode=True, layout=\"NCHW\""},
    {"rand((1, 1, 4, 3, 3), \"float32\"), [[[[[-4.0, 7.0, 1.5], [8.5, 0.5, -1.5], [3.0, -0.5, 4.0]], [[-4.5, "
     "-7.5, 4.5], [-6.0, 6.0, -5.0], [-3.5, 5.0, 2.0]], [[-6.5, 3.5, 2.5], [-5.5, 6.5, -9.0], [-2.0, -8.0, "
     "-7.0]], [[1.0, 5.5, -3.0], [7.5, -1.0, -2.5], [-8.5, 0.0, 8.0]]]]], pool_size=[3, 2, 1], strides=2, "
     "padding=[1, 0, 0], layout=\"NCDHW\""},
    {"rand((1, 1, 4, 3, 3), \"float32\"), [[[[[-1.5, -4.0, 0.5], [-5.0, 0.0, -8.0], [-3.5, -1.0, -6.5]], "
     "[[-6.0, 8.5, -3.0], [1.0, 6.5, 4.5], [-2.5, -2.0, 4.0]], [[7.0, 3.0, 8.0], [5.5, 2.5, 5.0], [2.0, 7.5, "
     "-0.5]], [[-7.5, -7.0, -8.5], [1.5, -4.5, 3.5], [-5.5, 6.0, -9.0]]]]], pool_size=2, strides=[2, 3, 2], "
     "padding=[1, 0, 1, 0, 1, 0], ceil_mode=True, layout=\"NCDHW\""},
    {"rand((1, 2, 3, 2), \"float32\"), [[[[1.0, 0.0], [-1.5, 2.5], [-3.0, 2.0]], [[-2.5, -2.0], [-1.0, "
     "-0.5], [1.5, 0.5]]]], pool_size=None, layout=\"NHWC\", out_layout=\"NCHW\""},
    {"rand((0, 2, 3, 2), \"float32\"), rand((0, 2, 3, 2), \"float32\"), pool_size=2"},
};
constexpr Reject rejects_any[] = {
    {"max_pool_select.shape", "rand((1, 1, 2, 3), \"float32\"), rand((1, 1, 3, 2), \"float32\")",
     "expected (1, 1, 3, 2)"},
    {"max_pool_select.layout",
     "rand((1, 1, 2, 3), \"float32\"), rand((1, 1, 3, 2), \"float32\"), layout=\"NC\"", "expected 3, 4 or 5"},
};

}  // namespace

extern const Op op_grad_max_pool_select = member_of<pooling::Member{pooling::Kind::MaxSelect, 0}>(
    {.name = "grad.max_pool_select",
     .summary = "Values at the first largest cell of every window.",
     .params = params_any,
     .gradient_doc = gradient_doc,
     .agreement = Agreement::DataMovement,
     .samples = samples_any,
     .rejects = rejects_any,
     .written_order = pooling::written_order,
     .doc = doc});

}  // namespace relish::ops_grad_max_pool_select

// Enlarging of images and volumes by scales.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/resampling.h"

namespace relish::ops_nn_upsampling {
namespace {

constexpr Param params_2d[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input, in the order of layout"},
    {"scale_h", ParamKind::Attribute, "float", "1.0", "factor of the height"},
    {"scale_w", ParamKind::Attribute, "float", "1.0", "factor of the width"},
    {"layout", ParamKind::Attribute, "str", "\"NCHW\"", "order of the dimensions of data"},
    {"method", ParamKind::Attribute, "str", "\"nearest_neighbor\"", "nearest_neighbor, bilinear or bicubic"},
    {"align_corners", ParamKind::Attribute, "bool", "False", "the corners of data and result meet"}};
constexpr Param params_3d[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input, in the order of layout"},
    {"scale_d", ParamKind::Attribute, "float", "1.0", "factor of the depth"},
    {"scale_h", ParamKind::Attribute, "float", "1.0", "factor of the height"},
    {"scale_w", ParamKind::Attribute, "float", "1.0", "factor of the width"},
    {"layout", ParamKind::Attribute, "str", "\"NCDHW\"", "order of the dimensions of data"},
    {"method", ParamKind::Attribute, "str", "\"nearest_neighbor\"", "nearest_neighbor, trilinear"},
    {"align_corners", ParamKind::Attribute, "bool", "False", "the corners of data and result meet"}};

constexpr std::string_view gradient_doc = "ddata = grad.resize_backward(g, shape of data)";
constexpr std::string_view doc =
    "image.resize with the sizes in * scale (halves to even) and coordinates p * in / n (rounded down for "
    "nearest_neighbor) or, with align_corners, p * (in - 1) / (n - 1). Symbolic dimensions take whole "
    "scales. TVM has no such operator today; there it is image.resize2d.";

constexpr Sample samples_2d[] = {
    {"[[[[1.0, 2.0]]]], scale_w=2", "[[[[1.0, 1.0, 2.0, 2.0]]]]"},
    {"rand((1, 2, 3, 2), \"float64\"), scale_h=3, scale_w=2"},
    {"rand((1, 2, 3, 2), \"float64\"), scale_h=3, scale_w=2, method=\"bilinear\""},
    {"rand((1, 2, 3, 2), \"float64\"), scale_h=3, scale_w=2, method=\"bilinear\", align_corners=True"},
    {"rand((1, 2, 3, 2), \"float64\"), scale_h=1.5, scale_w=2.0"},
    {"rand((2, 3, 2, 1), \"float32\"), scale_h=3, scale_w=2, layout=\"NHWC\""},
    {"rand((0, 2, 3, 2), \"float32\"), scale_w=2"},
    {"rand((1, 2, 3, 2), \"float64\"), scale_h=3, scale_w=2, method=\"bicubic\""},
};
constexpr Reject rejects_2d[] = {
    {"upsampling.scale", "rand((1, 2, 3, 2), \"float32\"), scale_h=0", "expected more than 0"},
    {"upsampling.method", "rand((1, 2, 3, 2), \"float32\"), method=\"area\"", "expected one of"},
    {"upsampling.rank", "rand((2, 2), \"float32\")", "expected 4"},
};

constexpr Sample samples_3d[] = {
    {"[[[[[1.0, 2.0]]]]], scale_w=2", "[[[[[1.0, 1.0, 2.0, 2.0]]]]]"},
    {"rand((1, 2, 2, 3, 2), \"float64\"), scale_d=2, scale_h=3, scale_w=2"},
    {"rand((1, 2, 2, 3, 2), \"float64\"), scale_d=2, scale_h=3, scale_w=2, method=\"trilinear\""},
    {"rand((1, 2, 2, 3, 2), \"float64\"), scale_d=2, scale_h=3, scale_w=2, method=\"trilinear\", "
     "align_corners=True"},
    {"rand((1, 2, 2, 3, 2), \"float64\"), scale_h=1.5, scale_w=2.0"},
    {"rand((2, 2, 3, 2, 1), \"float32\"), scale_d=2, scale_h=3, scale_w=2, layout=\"NDHWC\""},
    {"rand((0, 2, 2, 3, 2), \"float32\"), scale_w=2"},
};
constexpr Reject rejects_3d[] = {
    {"upsampling3d.scale", "rand((1, 2, 2, 3, 2), \"float32\"), scale_h=0", "expected more than 0"},
    {"upsampling3d.method", "rand((1, 2, 2, 3, 2), \"float32\"), method=\"area\"", "expected one of"},
    {"upsampling3d.rank", "rand((2, 2), \"float32\")", "expected 5"},
};

// What all ranks share.
template <int rank>
constexpr Op upsampling(Op op) {
  op.gradient_doc = gradient_doc;
  op.agreement = Agreement::Composite;
  op.doc = doc;
  return member_of<resampling::Member{resampling::Source::Upsampling, rank, false}>(op);
}

}  // namespace

extern const Op op_nn_upsampling = upsampling<2>({.name = "nn.upsampling",
                                                  .summary = "Enlarging of two spatial dimensions by scales.",
                                                  .params = params_2d,
                                                  .samples = samples_2d,
                                                  .rejects = rejects_2d});

extern const Op op_nn_upsampling3d =
    upsampling<3>({.name = "nn.upsampling3d",
                   .summary = "Enlarging of three spatial dimensions by scales.",
                   .params = params_3d,
                   .samples = samples_3d,
                   .rejects = rejects_3d});

}  // namespace relish::ops_nn_upsampling

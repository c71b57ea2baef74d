// The gradients of resizing.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/resampling.h"

namespace relish::ops_grad_resize_backward {
namespace {

template <int rank>
constexpr auto params = resampling::resize_params<rank, 10>(
    {"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the resized tensor"},
    {"shape", ParamKind::Shape, "shape", "", "shape of the resizing's data"});

constexpr std::string_view gradient_doc = "doutput_grad = image.resize(g) with the same attributes";
constexpr std::string_view doc =
    "Each cell is added to the cells of the data from which resizing took it, with the same weights. TVM has "
    "no such operator.";

constexpr Sample samples_2d[] = {
    {"[[[[1.0, 2.0, 4.0, 8.0]]]], R.shape([1, 1, 1, 2])", "[[[[3.5, 11.5]]]]"},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4]), method=\"nearest_neighbor\", "
     "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\""},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4]), method=\"nearest_neighbor\""},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4]), method=\"nearest_neighbor\", "
     "coordinate_transformation_mode=\"tf_half_pixel_for_nn\", rounding_method=\"ceil\""},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4]), method=\"nearest_neighbor\", "
     "rounding_method=\"round_prefer_ceil\""},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4]), method=\"nearest_neighbor\", "
     "rounding_method=\"round_prefer_floor\""},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4])"},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4]), "
     "coordinate_transformation_mode=\"align_corners\""},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4]), "
     "coordinate_transformation_mode=\"pytorch_half_pixel\""},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4]), method=\"cubic\""},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4]), method=\"cubic\", cubic_alpha=-0.5, "
     "cubic_exclude=1, coordinate_transformation_mode=\"asymmetric\""},
    {"rand((1, 2, 5, 3), \"float64\"), R.shape([1, 2, 3, 4]), "
     "coordinate_transformation_mode=\"tf_crop_and_resize\", roi=[-0.25, 0.0, 0.75, 1.25], "
     "extrapolation_value=5.0"},
    {"rand((2, 5, 3, 1), \"float32\"), R.shape([2, 3, 3, 1]), layout=\"NHWC\""},
};
constexpr Reject rejects_2d[] = {
    {"resize2d_backward.rank", "rand((1, 1, 2, 2), \"float32\"), R.shape([1, 1, 4])", "expected 4"},
    {"resize2d_backward.shape", "rand((1, 1, 2, 2), \"float32\"), R.shape([1, 2, 3, 3])", "channels"},
};

constexpr Sample samples_3d[] = {
    {"[[[[[1.0, 2.0, 4.0, 8.0]]]]], R.shape([1, 1, 1, 1, 2])", "[[[[[3.5, 11.5]]]]]"},
    {"rand((1, 2, 3, 2, 4), \"float64\"), R.shape([1, 2, 2, 3, 3]), method=\"nearest_neighbor\", "
     "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\""},
    {"rand((1, 2, 3, 2, 4), \"float64\"), R.shape([1, 2, 2, 3, 3])"},
    {"rand((1, 2, 3, 2, 4), \"float64\"), R.shape([1, 2, 2, 3, 3]), method=\"cubic\""},
    {"rand((1, 2, 3, 2, 4), \"float64\"), R.shape([1, 2, 2, 3, 3]), "
     "coordinate_transformation_mode=\"tf_crop_and_resize\", roi=[-0.25, 0.0, 0.5, 0.75, 1.25, 1.0], "
     "extrapolation_value=5.0"},
    {"rand((2, 3, 2, 4, 1), \"float32\"), R.shape([2, 3, 3, 3, 1]), layout=\"NDHWC\""},
};
constexpr Reject rejects_3d[] = {
    {"resize3d_backward.rank", "rand((1, 1, 2, 2, 2), \"float32\"), R.shape([1, 1, 4])", "expected 5"},
    {"resize3d_backward.shape", "rand((1, 1, 2, 2, 2), \"float32\"), R.shape([1, 2, 3, 3, 3])", "channels"},
};

// What all ranks share.
template <int rank>
constexpr Op resize_backward(Op op) {
  op.params = params<rank>;
  op.gradient_doc = gradient_doc;
  op.agreement = Agreement::Composite;
  op.doc = doc;
  return member_of<resampling::Member{resampling::Source::Resize, rank, true}>(op);
}

}  // namespace

extern const Op op_grad_resize2d_backward =
    resize_backward<2>({.name = "grad.resize2d_backward",
                        .summary = "Gradient of image.resize2d for its data.",
                        .samples = samples_2d,
                        .rejects = rejects_2d});

extern const Op op_grad_resize3d_backward =
    resize_backward<3>({.name = "grad.resize3d_backward",
                        .summary = "Gradient of image.resize3d for its data.",
                        .samples = samples_3d,
                        .rejects = rejects_3d});

}  // namespace relish::ops_grad_resize_backward

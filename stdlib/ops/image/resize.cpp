// Resizing of images and volumes.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/resampling.h"

namespace relish::ops_image_resize {
namespace {

template <int rank>
constexpr auto params = resampling::resize_params<rank, 11>(
    windows::data_param, {"size", ParamKind::Shape, "shape", "", "spatial sizes of the result"});

constexpr std::string_view gradient_doc =
    "ddata = grad.resize_backward(g, shape of data): each g goes to the cells it came from, with the same "
    "weights";
constexpr std::string_view doc =
    "Cell p of a result of size n reads the data at (p + 0.5) * in / n - 0.5 (half_pixel; 0 for n = 1 in "
    "pytorch_half_pixel), p * (in - 1) / (n - 1) (align_corners), p * in / n (asymmetric) or (p + 0.5) * in "
    "/ n (tf_half_pixel_for_nn). Coordinates are computed in float64 with one division, where TVM uses "
    "float32 and adds an epsilon before it rounds down. Cells beyond the border repeat it. An empty "
    "rounding_method means round for align_corners and floor otherwise. linear and cubic take floating data, "
    "nearest_neighbor any numbers.";

constexpr Sample samples_2d[] = {
    {"[[[[1.0, 3.0]]]], (1, 4)", "[[[[1.0, 1.5, 2.5, 3.0]]]]"},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3), method=\"nearest_neighbor\", "
     "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\""},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3), method=\"nearest_neighbor\""},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3), method=\"nearest_neighbor\", "
     "coordinate_transformation_mode=\"tf_half_pixel_for_nn\", rounding_method=\"ceil\""},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3), method=\"nearest_neighbor\", "
     "rounding_method=\"round_prefer_ceil\""},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3), method=\"nearest_neighbor\", "
     "rounding_method=\"round_prefer_floor\""},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3)"},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3), coordinate_transformation_mode=\"align_corners\""},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3), coordinate_transformation_mode=\"pytorch_half_pixel\""},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3), method=\"cubic\""},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3), method=\"cubic\", cubic_alpha=-0.5, cubic_exclude=1, "
     "coordinate_transformation_mode=\"asymmetric\""},
    {"rand((1, 2, 3, 4), \"float64\"), (5, 3), coordinate_transformation_mode=\"tf_crop_and_resize\", "
     "roi=[-0.25, 0.0, 0.75, 1.25], extrapolation_value=5.0"},
    {"rand((2, 3, 3, 1), \"float32\"), (5, 3), layout=\"NHWC\""},
    {"rand((1, 1, 2, 2), \"float16\"), (5, 3), out_dtype=\"float32\""},
    {"rand((0, 1, 2, 2), \"float32\"), (5, 3)"},
    {"R.const([[[[1, 2]]]], \"uint8\"), (2, 4), method=\"nearest_neighbor\"",
     "[[[[1, 1, 2, 2], [1, 1, 2, 2]]]]"},
};
constexpr Reject rejects_2d[] = {
    {"resize2d.extrapolation_value", "rand((1, 1, 2, 2), \"float32\"), (3, 3), extrapolation_value=1e39",
     "which float32 does not hold"},
    {"resize2d.size", "rand((1, 1, 2, 2), \"float32\"), (3,)", "expected 2"},
    {"resize2d.method", "rand((1, 1, 2, 2), \"float32\"), (3, 3), method=\"lanczos\"",
     "expected one of nearest_neighbor"},
    {"resize2d.rounding_method", "rand((1, 1, 2, 2), \"float32\"), (3, 3), rounding_method=\"up\"",
     "expected one of round"},
    {"resize2d.coordinate_transformation_mode",
     "rand((1, 1, 2, 2), \"float32\"), (3, 3), coordinate_transformation_mode=\"x\"",
     "expected one of half_pixel"},
    {"resize2d.roi", "rand((1, 1, 2, 2), \"float32\"), (3, 3), roi=[0.5]", "expected 4"},
    {"resize2d.cubic_exclude", "rand((1, 1, 2, 2), \"float32\"), (3, 3), cubic_exclude=97",
     "expected 0 or 1"},
    {"resize2d.layout", "rand((1, 1, 2, 2), \"float32\"), (3, 3), layout=\"NC\"", "expected the letters"},
    {"resize2d.rank", "rand((2, 2), \"float32\"), (3, 3)", "expected 4"},
    {"resize2d.dtype", "R.const([[[[1]]]], \"int32\"), (3, 3)", "expected a floating dtype"},
};

constexpr Sample samples_3d[] = {
    {"[[[[[1.0, 3.0]]]]], (1, 1, 4)", "[[[[[1.0, 1.5, 2.5, 3.0]]]]]"},
    {"rand((1, 2, 2, 3, 3), \"float64\"), (3, 2, 4), method=\"nearest_neighbor\", "
     "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\""},
    {"[[[[[1.0, 3.0]]]]], (1, 1, 4), method=\"nearest_neighbor\"", "[[[[[1.0, 1.0, 1.0, 3.0]]]]]"},
    {"[[[[[1.0, 3.0]]]]], (1, 1, 4), method=\"nearest_neighbor\", "
     "coordinate_transformation_mode=\"align_corners\"",
     "[[[[[1.0, 1.0, 3.0, 3.0]]]]]"},
    {"rand((1, 2, 2, 3, 3), \"float64\"), (3, 2, 4)"},
    {"rand((1, 2, 2, 3, 3), \"float64\"), (3, 2, 4), method=\"cubic\""},
    {"rand((1, 2, 2, 3, 3), \"float64\"), (3, 2, 4), coordinate_transformation_mode=\"tf_crop_and_resize\", "
     "roi=[-0.25, 0.0, 0.5, 0.75, 1.25, 1.0], extrapolation_value=5.0"},
    {"rand((2, 3, 3, 3, 1), \"float32\"), (3, 2, 4), layout=\"NDHWC\""},
    {"rand((1, 1, 2, 2, 2), \"float16\"), (3, 2, 4), out_dtype=\"float32\""},
    {"rand((0, 1, 2, 2, 2), \"float32\"), (3, 2, 4)"},
};
constexpr Reject rejects_3d[] = {
    {"resize3d.size", "rand((1, 1, 2, 2, 2), \"float32\"), (3,)", "expected 3"},
    {"resize3d.method", "rand((1, 1, 2, 2, 2), \"float32\"), (3, 3, 3), method=\"lanczos\"",
     "expected one of nearest_neighbor"},
    {"resize3d.rounding_method", "rand((1, 1, 2, 2, 2), \"float32\"), (3, 3, 3), rounding_method=\"up\"",
     "expected one of round"},
    {"resize3d.coordinate_transformation_mode",
     "rand((1, 1, 2, 2, 2), \"float32\"), (3, 3, 3), coordinate_transformation_mode=\"x\"",
     "expected one of half_pixel"},
    {"resize3d.roi", "rand((1, 1, 2, 2, 2), \"float32\"), (3, 3, 3), roi=[0.5]", "expected 6"},
    {"resize3d.layout", "rand((1, 1, 2, 2, 2), \"float32\"), (3, 3, 3), layout=\"NC\"",
     "expected the letters"},
    {"resize3d.rank", "rand((2, 2), \"float32\"), (3, 3, 3)", "expected 5"},
    {"resize3d.dtype", "R.const([[[[[1]]]]], \"int32\"), (3, 3, 3)", "expected a floating dtype"},
};

// What all ranks share.
template <int rank>
constexpr Op resize(Op op) {
  op.params = params<rank>;
  op.gradient_doc = gradient_doc;
  op.agreement = Agreement::Composite;
  op.doc = doc;
  return member_of<resampling::Member{resampling::Source::Resize, rank, false}>(op);
}

}  // namespace

extern const Op op_image_resize2d =
    resize<2>({.name = "image.resize2d",
               .summary = "Resizing of two spatial dimensions by interpolation.",
               .samples = samples_2d,
               .rejects = rejects_2d});

extern const Op op_image_resize3d =
    resize<3>({.name = "image.resize3d",
               .summary = "Resizing of three spatial dimensions by interpolation.",
               .samples = samples_3d,
               .rejects = rejects_3d});

}  // namespace relish::ops_image_resize

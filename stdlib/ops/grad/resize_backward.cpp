// The gradients of resizing.
#include "stdlib/families/resampling.h"

namespace relish {
namespace {

template <int rank>
constexpr resampling::Member member{resampling::Source::Resize, rank, true};

template <int rank>
Type infer(const CallView& call) {
  return resampling::infer(call, member<rank>);
}
template <int rank>
Value evaluate(const EvalCall& call) {
  return resampling::evaluate(call, member<rank>);
}
template <int rank>
PrimFunc lower(const LowerCall& call) {
  return resampling::lower(call, member<rank>);
}
template <int rank>
Partials vjp(const VjpCall& call) {
  return resampling::vjp(call, member<rank>);
}

constexpr std::array<Param, 10> params_of(std::string_view roi, std::string_view layout) {
  return {{{"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the resized tensor"},
           {"shape", ParamKind::Shape, "shape", "", "shape of the resizing's data"},
           {"roi", ParamKind::Attribute, "list[float] or None", roi,
            "part of the data, in shares: all starts, then all ends; only for tf_crop_and_resize"},
           {"layout", ParamKind::Attribute, "str", layout, "order of the dimensions of data"},
           {"method", ParamKind::Attribute, "str", "\"linear\"", "nearest_neighbor, linear or cubic"},
           {"coordinate_transformation_mode", ParamKind::Attribute, "str", "\"half_pixel\"",
            "half_pixel, align_corners, asymmetric, pytorch_half_pixel, tf_half_pixel_for_nn or "
            "tf_crop_and_resize"},
           {"rounding_method", ParamKind::Attribute, "str", "\"round\"",
            "for nearest_neighbor: round (halves to even), floor, ceil, round_prefer_floor or "
            "round_prefer_ceil"},
           {"cubic_alpha", ParamKind::Attribute, "float", "-0.75", "coefficient of the cubic kernel"},
           {"cubic_exclude", ParamKind::Attribute, "int", "0",
            "1: cells outside of the data have no weight in the cubic kernel"},
           {"extrapolation_value", ParamKind::Attribute, "float", "0.0",
            "value of cells outside of the data, in the mode tf_crop_and_resize"}}};
}
constexpr auto params_2d = params_of("[0.0, 0.0, 0.0, 0.0]", "\"NCHW\"");
constexpr auto params_3d = params_of("[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", "\"NCDHW\"");

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

}  // namespace

extern const Op op_grad_resize2d_backward{.name = "grad.resize2d_backward",
                                          .summary = "Gradient of image.resize2d for its data.",
                                          .params = params_2d,
                                          .infer = infer<2>,
                                          .eval = evaluate<2>,
                                          .lower = lower<2>,
                                          .vjp = vjp<2>,
                                          .gradient_doc = gradient_doc,
                                          .agreement = Agreement::Composite,
                                          .samples = samples_2d,
                                          .rejects = rejects_2d,
                                          .doc = doc};

extern const Op op_grad_resize3d_backward{.name = "grad.resize3d_backward",
                                          .summary = "Gradient of image.resize3d for its data.",
                                          .params = params_3d,
                                          .infer = infer<3>,
                                          .eval = evaluate<3>,
                                          .lower = lower<3>,
                                          .vjp = vjp<3>,
                                          .gradient_doc = gradient_doc,
                                          .agreement = Agreement::Composite,
                                          .samples = samples_3d,
                                          .rejects = rejects_3d,
                                          .doc = doc};

}  // namespace relish

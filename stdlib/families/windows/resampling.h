// The family of resampling: every spatial dimension of the result is read from the data by its own short sums
// of weighted cells, and the weights multiply. Resizing (nearest, linear, cubic) and adaptive averages are
// members; each map is linear, and its transpose, which scatters what the map gathers, is its gradient.
#pragma once

#include "stdlib/families/language/gradient.h"
#include "stdlib/families/windows/windows.h"

namespace relish::resampling {

enum class Source : std::uint8_t {
  Resize,      // attributes of image.resize; the sizes are the second argument
  Upsampling,  // scales by attributes
  Adaptive,    // averages over even parts; the sizes are the attribute output_size
};

struct Member {
  Source source;
  int rank = 0;           // spatial dimensions; 0: by the layout
  bool backward = false;  // output_grad and the shape of data -> gradient of data
};

Type infer(const CallView& call, const Member& member);
Value evaluate(const EvalCall& call, const Member& member);
PrimFunc lower(const LowerCall& call, const Member& member);
Partials vjp(const VjpCall& call, const Member& member);
// Adaptive averages: cells of the largest part; backward: the most parts that hold one cell.
std::int64_t adaptive_terms(const CallView& call, const Type& result, const Member& member);

// The parameters of resizing and of its gradient: these two, the attributes, and for the former out_dtype.
template <int rank, std::size_t count>
constexpr std::array<Param, count> resize_params(const Param& first, const Param& second) {
  std::array<Param, count> result = {
      {first,
       second,
       {"roi", ParamKind::Attribute, "list[float] or None",
        rank == 2 ? "[0.0, 0.0, 0.0, 0.0]" : "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]",
        "part of the data, in shares: all starts, then all ends; only for tf_crop_and_resize"},
       windows::layout_param(rank),
       {"method", ParamKind::Attribute, "str", "\"linear\"", "nearest_neighbor, linear or cubic"},
       {"coordinate_transformation_mode", ParamKind::Attribute, "str", "\"half_pixel\"",
        "half_pixel, align_corners, asymmetric, pytorch_half_pixel, tf_half_pixel_for_nn or "
        "tf_crop_and_resize"},
       {"rounding_method", ParamKind::Attribute, "str", rank == 2 ? "\"round\"" : "\"\"",
        "for nearest_neighbor: round (halves to even), floor, ceil, round_prefer_floor or "
        "round_prefer_ceil"},
       {"cubic_alpha", ParamKind::Attribute, "float", "-0.75", "coefficient of the cubic kernel"},
       {"cubic_exclude", ParamKind::Attribute, "int", "0",
        "1: cells outside of the data have no weight in the cubic kernel"},
       {"extrapolation_value", ParamKind::Attribute, "float", "0.0",
        "value of cells outside of the data, in the mode tf_crop_and_resize"}}};
  if constexpr (count > 10) {
    result[10] = {"out_dtype", ParamKind::Attribute, "dtype or None", "None",
                  "dtype of the result; None: data's"};
  }
  return result;
}

}  // namespace relish::resampling

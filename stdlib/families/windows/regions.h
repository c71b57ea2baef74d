// Pools over regions of images: each bin of a region is the average or the largest of samples between cells
// (align), or the largest cell (pool). A pool is linear in the cells once it is known which of them each bin
// takes and how much of each, so three operators share that: the pool itself, the same choice of another
// tensor, and its transpose. How many cells a region has is data, so compiled code calls the evaluations.
#pragma once

#include <array>

#include "stdlib/families/language/gradient.h"
#include "stdlib/families/windows/windows.h"

namespace relish::regions {

enum class Kind {
  Pool,      // (data, rois): the bins
  Select,    // (values, data, rois): the bins of values, chosen as those of data are
  Backward,  // (output_grad, data, rois): every cell's share of the bins
};
struct Member {
  bool align;
  Kind kind;
};

Type infer(const CallView& call, const Member& member);
Value evaluate(const EvalCall& call, const Member& member);
Partials vjp(const VjpCall& call, const Member& member);

inline constexpr Param data_param{"data", ParamKind::Tensor, "tensor", "", "images, in the order of layout"};
inline constexpr Param rois_param{"rois", ParamKind::Tensor, "tensor", "",
                                  "regions (number, 5): number of the image, left, top, right, bottom"};
inline constexpr Param size_param{"pooled_size", ParamKind::Attribute, "int or list[int]", "",
                                  "rows and columns of the result"};
inline constexpr Param scale_param{"spatial_scale", ParamKind::Attribute, "float", "",
                                   "factor from the coordinates of rois to cells of data"};
inline constexpr Param layout_param{"layout", ParamKind::Attribute, "str", "\"NCHW\"",
                                    "order of the dimensions of data and result"};
inline constexpr Param ratio_param{
    "sample_ratio", ParamKind::Attribute, "int", "-1",
    "samples of a bin in each direction; up to 0: one for each cell of data in it"};
inline constexpr Param aligned_param{"aligned", ParamKind::Attribute, "bool", "False",
                                     "regions may be smaller than a cell"};
inline constexpr Param mode_param{"mode", ParamKind::Attribute, "str", "\"avg\"",
                                  "avg or max of the samples"};
inline constexpr Param values_param{"values", ParamKind::Tensor, "tensor", "",
                                    "what to choose from, shaped as data"};
inline constexpr Param output_grad_param{"output_grad", ParamKind::Tensor, "tensor", "",
                                         "cotangent of the result"};

inline constexpr std::string_view fixed[] = {"rois"};
inline constexpr std::string_view no_gradient = "regions are taken as given, as detectors are trained";

// `op` with the rules of the family. The number of a region's image is a choice, and its edges move samples
// and are rounded to cells: there is no gradient through rois.
template <Member member>
constexpr Op member_of(Op op) {
  op.infer = [](const CallView& call) { return infer(call, member); };
  op.eval = [](const EvalCall& call) { return evaluate(call, member); };
  op.vjp = [](const VjpCall& call) { return vjp(call, member); };
  op.no_gradient = no_gradient;
  op.fixed_params = fixed;
  return op;
}

}  // namespace relish::regions

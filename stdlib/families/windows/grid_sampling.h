// Sampling of images and volumes at the points of a grid: interpolation with kernels of any derivative order
// along each dimension, and its transpose in the data. The derivative by the grid is a sampling of one order
// more, so the family is closed under differentiation.
#pragma once

#include "stdlib/families/language/gradient.h"
#include "stdlib/families/windows/windows.h"

namespace relish::grid_sampling {

struct Member {
  bool transposed = false;  // output_grad, grid, shape of data -> data; else data, grid -> samples
  bool ordered = false;     // has the attribute order; else every order is 0
};

Type infer(const CallView& call, const Member& member);
Value evaluate(const EvalCall& call, const Member& member);
PrimFunc lower(const LowerCall& call, const Member& member);
Partials vjp(const VjpCall& call, const Member& member);

// The parameters that sampling and its derivatives share.
inline constexpr Param grid_param = {"grid", ParamKind::Tensor, "tensor", "",
                                     "points (batch, 2 or 3, spatial): x, y and z from -1 to 1"};
inline constexpr Param method_param = {"method", ParamKind::Attribute, "str", "\"bilinear\"",
                                       "nearest, bilinear (also trilinear) or bicubic"};
inline constexpr Param layout_param = {"layout", ParamKind::Attribute, "str", "\"NCHW\"",
                                       "order of the dimensions of data and result"};
inline constexpr Param padding_mode_param = {"padding_mode", ParamKind::Attribute, "str", "\"zeros\"",
                                             "outside of the data: zeros, border or reflection"};
inline constexpr Param align_corners_param = {
    "align_corners", ParamKind::Attribute, "bool", "False",
    "-1 and 1 are the centres of the outer cells; else their outer borders"};

}  // namespace relish::grid_sampling

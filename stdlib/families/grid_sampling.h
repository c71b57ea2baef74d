// Sampling of images and volumes at the points of a grid: interpolation with kernels of any derivative order
// along each dimension, and its transpose in the data. The derivative by the grid is a sampling of one order
// more, so the family is closed under differentiation.
#pragma once

#include "stdlib/families/gradient.h"
#include "stdlib/families/windows.h"

namespace relish::grid_sampling {

struct Member {
  bool transposed = false;  // output_grad, grid, shape of data -> data; else data, grid -> samples
  bool ordered = false;     // has the attribute order; else every order is 0
};

Type infer(const CallView& call, const Member& member);
Value evaluate(const EvalCall& call, const Member& member);
PrimFunc lower(const LowerCall& call, const Member& member);
Partials vjp(const VjpCall& call, const Member& member);

}  // namespace relish::grid_sampling

// The family of resampling: every spatial dimension of the result is read from the data by its own short sums
// of weighted cells, and the weights multiply. Resizing (nearest, linear, cubic) and adaptive averages are
// members; each map is linear, and its transpose, which scatters what the map gathers, is its gradient.
#pragma once

#include "stdlib/families/gradient.h"
#include "stdlib/families/windows.h"

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

}  // namespace relish::resampling

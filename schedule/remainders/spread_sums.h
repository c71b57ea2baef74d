// Sums that reach only every second element of their result, or every third, as a convolution of 1 x 1 with
// steps has them in the gradient of its image: all others are 0.
#pragma once

#include "ir/nodes/stmt.h"

namespace relish {

// The function in which such a sum runs over the elements that it reaches, for
//
//   C[.., x] += x % 2 == 0 and .. ? A[.., x // 2, k] * B[k, ..] : 0
//
// R[.., x'] += A[.., x', k] * B[k, ..]. What reads C element by element, and nothing else does, is done for
// each remainder of x, with R or 0 in its place, those of one row side by side: C is not stored. Else C is
// stored from R that way. The same handle when there is no sum of this form.
PrimFuncPtr with_spread_sums(const PrimFuncPtr& function);

}  // namespace relish

// Long loops in two: one over segments of their rounds around one over the rounds of a segment. Where little
// is kept, their gradient holds what each segment begins with and the rounds of one segment.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Of all loops between numbers with enough rounds; segments have about as many rounds as there are segments,
// and what is left over is a loop behind them. The same handle when there is no such loop.
FunctionPtr with_split_rounds(const FunctionPtr& function);

}  // namespace relish

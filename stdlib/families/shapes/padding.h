// Padding of every dimension by cells that are constant or taken from the data itself, and its transpose,
// which adds every cell back to where it was taken from.
#pragma once

#include "stdlib/families/language/gradient.h"
#include "stdlib/families/windows/windows.h"

namespace relish::padding {

Type infer(const CallView& call, bool backward);
Value evaluate(const EvalCall& call, bool backward);
PrimFunc lower(const LowerCall& call, bool backward);
Partials vjp(const VjpCall& call, bool backward);

}  // namespace relish::padding

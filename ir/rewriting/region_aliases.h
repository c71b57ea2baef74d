// Regions without bindings that only name their results.
#pragma once

#include "ir/nodes/expr.h"

namespace relish {

// Whether the leaf, or a field of the tuple of leaves, is `var`.
bool mentions(const Expr& leaf, const Var& var);

// A binding that only gives a leaf another name, of the same type; else null.
const VarBinding* as_alias(const Binding& binding);

// Behind those of `into`, each on a line of its own.
void append_comments(Comments& into, const CommentsPtr& comments);

// `y = leaf` at the end of a region, where y is a result, says only that the leaf is the result: such
// bindings go, their comments stay at the end of the region.
void drop_aliases(Region& region);

}  // namespace relish

// Sums of which only the run knows how many terms they have: what they begin with stands before them in a
// nest of its own, so that it is there also without terms.
#pragma once

#include "ir/nodes/stmt.h"
#include "schedule/target.h"

namespace relish {

// The function where such a nest, right before a contraction with open terms, is the init of the contraction
// (which language and rules leave behind also for no terms): its first part then stores what later ones add
// to. The same handle when there is none.
PrimFuncPtr with_joined_inits(const PrimFuncPtr& function, const Target& target);

}  // namespace relish

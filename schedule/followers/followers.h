// What follows contractions in a function: nests over the elements of their results are done where these are
// ready (epilogue.h), and nests that read windows of what comes of it behind each block (block_readers.h).
#pragma once

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"
#include "schedule/followers/epilogue.h"
#include "schedule/target.h"

namespace relish {

// Whether, on a processor that is no particular one, the contraction's blocks, with `next` behind their
// elements where it is defined, hand `buffer` to `reader` block by block.
bool takes_reader(const Stmt& nest, const Stmt& next, const Stmt& reader, const Buffer& buffer,
                  RangeProver& prover, ReadyContractions& known);

// The function with every contraction and what follows it so joined; results that nobody reads any more are
// no longer allocated. The same handle when there are none.
PrimFuncPtr with_followers(const PrimFuncPtr& function, const Target& target, Accumulators& accumulators);

}  // namespace relish

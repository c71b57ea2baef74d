// Nests that read windows of a contraction's result, as pools do. Each block of the contraction is followed
// by the part of the nest that reads just what the block made: that stays in the cache and is no tensor.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"
#include "schedule/target.h"

namespace relish {

// The blocks of a contraction with the iterations of `reader` behind the block whose elements of `buffer`
// they read. The blocks make all of `buffer`, and nothing else accesses it. None when no loop around the
// blocks parts the reader: windows that overlap from one block to the next, a reader of all images. Which
// loop it is, and how far inside, is decided by the size of what a block hands over.
//
// Every element is computed once, from the same terms in the same order.
std::optional<Stmt> with_reader_in_blocks(const Stmt& blocks, const Stmt& reader, const Buffer& buffer,
                                          RangeProver& prover, const Target& target);

}  // namespace relish

// The rule for contractions: nests C[...] += A[...] * B[...] in which A and B share the axes that are summed
// and differ in at least one axis that is stored: products of matrices in all transpositions and batchings,
// dense layers, convolutions and their gradients, whoever wrote them.
#pragma once

#include <optional>
#include <vector>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"
#include "schedule/target.h"

namespace relish {

struct Contracted {
  Stmt blocks;
  // Of rows whose number only the run knows: when it holds they are so few that the nest does better without
  // panels. Undefined: never.
  Scalar few;
  // Where the blocks turn their sums on the way to the result: the dimension of the result along which sums
  // lie in memory.
  std::optional<std::size_t> along_sums;
};

// What is put behind the stores of a result.
struct Behind {
  bool by_vectors = true;  // vectors compute it, if it is anything
  // It reads elements of its own beside those of the result. Each tile asks for them while it is summed, by
  // T.evaluate(result[...]) that stands for these elements, and is stored as soon as it is ready.
  bool reads_elements = false;
  // Where it alone stores what there is, and along another dimension of the result than the last: all of
  // them, in the order in which that lies in memory.
  std::vector<std::size_t> order;
  // There is nothing: the result may hold the sums of some of the terms.
  bool nothing = false;
};

// The nest in blocks that fit the caches. A block copies its parts of both factors into panels (which takes
// up transposition, windows and casts) and sums tile by tile, a tile in vector registers. None when the nest
// is no contraction, or so small that nothing is gained.
//
// An element's terms are summed in the order of the text, in parts of at most 256 that are then joined in
// order: the same numbers for every processor and every size of tile.
std::optional<Contracted> contract(const Stmt& nest, RangeProver& prover, const Target& target,
                                   const Behind& behind = {});

}  // namespace relish

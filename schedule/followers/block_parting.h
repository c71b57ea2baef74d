// Finding the loop of a contraction's blocks that parts what they make and what a reader takes of it alike,
// for block_readers.h.
#pragma once

#include <optional>
#include <vector>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// The loops of a reader and the block that they drive, each by one axis.
struct BlockReader {
  std::vector<IterVar> rounds;  // of the blocks' loops around it
  std::vector<Stmt> loops;      // outermost first
  Stmt block;

  Stmt statement() const;
};

// None when the statement is no such nest.
std::optional<BlockReader> block_reader_of(const Stmt& stmt);

// A loop that makes chunks of one dimension of a buffer, and the loop of the reader that takes them.
struct Parting {
  std::size_t dimension = 0;
  std::int64_t chunk = 1;   // elements of the dimension in one iteration of the blocks' loop
  std::size_t loop = 0;     // of the reader
  std::int64_t window = 1;  // elements of the dimension that belong to one iteration of that
};

// How the blocks' loop parts the buffer for the reader; none when it does not.
std::optional<Parting> parting_of(const For& loop, const BlockReader& reader, const Buffer& buffer,
                                  RangeProver& prover);

}  // namespace relish

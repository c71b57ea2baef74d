// What reverse execution of plain statements needs: which buffers have cotangents, which values are read on
// the way back, and which must be computed again for them.
#pragma once

#include <unordered_set>
#include <vector>

#include "transform/gradient/plain_statements.h"
#include "transform/gradient/scalar_partials.h"

namespace relish {

struct ReverseNeeds {
  ActiveBuffers active;                          // that hang on the wanted ones
  std::unordered_set<std::uint64_t> written;     // by any statement
  std::unordered_set<std::uint64_t> restored;    // written, and read on the way back
  std::unordered_set<std::uint64_t> recomputed;  // what those are computed from, and themselves
  std::vector<Obstacle> obstacles;

  // Whether the expression reads what is written.
  bool reads_written(const Scalar& scalar) const;
  // Whether the bounds of the loop do.
  bool computes_bounds(const For& loop) const;
  // Whether the statement holds something to go back through.
  bool matters(const Stmt& stmt) const;
};
// Whether the index of a store reads what it stores to: behind the store it may be another.
bool reads(const Scalar& index, const Buffer& buffer);
ReverseNeeds reverse_needs(const PlainStatements& plain, const std::vector<Buffer>& wrt);

}  // namespace relish

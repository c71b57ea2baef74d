// Which elements of a buffer a stage reads.
#pragma once

#include <vector>

#include "schedule/stages/stages.h"

namespace relish {

// The loads of a buffer, apart by where they stand.
struct BufferReads {
  std::vector<std::vector<Scalar>> all;  // without those that are the same
  std::vector<std::vector<Scalar>>
      always;  // of them, those that every iteration loads, in terms of axes and names alone
};

// Whether the indices are one of those.
bool is_among(const std::vector<Scalar>& indices, const std::vector<std::vector<Scalar>>& known);

// Adds the loads of the expression; `always`: every iteration computes it.
void collect_reads(const Scalar& value, const Buffer& buffer, bool always, BufferReads& reads);
BufferReads reads_of(const Stage& stage, const Buffer& buffer);

// How often the expression loads from the buffer.
int count_loads(const Scalar& value, const Buffer& buffer);

// Whether no two iterations of the stage have the same indices: each of its axes moves one index alone, by
// one.
bool tells_iterations_apart(const std::vector<Scalar>& indices, const Stage& stage);

}  // namespace relish

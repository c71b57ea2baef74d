// Rows: stages one behind the other that run over the same outer axes become one loop over these, so that a
// row is still in the cache when the next stage reads it, and what they hand on is as small as one row.
#pragma once

#include <vector>

#include "schedule/stages/stages.h"

namespace relish {

// Stages in one nest of loops over their first `rows` axes. One stage: it stands alone.
struct RowGroup {
  std::size_t rows = 0;
  std::vector<Stage> stages;
};

// Which stages join the rows of others: those that have them outermost; also such that compute each element
// by itself and have them further inside, with long runs of a row along memory; or also with short ones.
enum class RowOrder { AsTheyLie, LongRuns, AnyRuns };
std::vector<RowGroup> group_rows(std::vector<Stage> stages, RowOrder order);

// The stage as a nest inside of the loops over its first axes.
Stmt nest_of(const Stage& stage, std::size_t rows);

// The statements of the groups, one of each. Temporaries that only one group uses, row by row, become its
// own; the others are appended to `allocations`.
std::vector<Stmt> statements_of(const std::vector<RowGroup>& groups, const std::vector<Buffer>& temporaries,
                                std::vector<Buffer>& allocations);

}  // namespace relish

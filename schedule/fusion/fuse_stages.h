// From stages to the body of a prim_func: all that is done to them, in its order.
#pragma once

#include <vector>

#include "schedule/followers/epilogue.h"
#include "schedule/stages/rows.h"

namespace relish {

// The nests that stand for the stages.
struct FusedBody {
  Stmt body;
  std::vector<Buffer> allocations;
  std::size_t loops = 0;  // nests with iterations to go through; a contraction and its epilogue are one
  BufferIds on_tiles;     // what contractions hand to their epilogues, element by element
  bool changed = false;
};

// Whether it is so few numbers that a first cache keeps them: those of rows or channels, beside what they are
// sums of.
bool is_small(const Buffer& buffer);

// `temporaries` are seen by nobody but the stages. `known` is filled with what is found out about
// contractions.
FusedBody fuse_stages(std::vector<Stage> stages, const std::vector<Buffer>& temporaries, Span span,
                      ReadyContractions& known);

}  // namespace relish

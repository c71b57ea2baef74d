// The statements of a prim_func in their order and in few kinds: sequences, loops, ifs, whiles and stores.
// Blocks have become ifs, their variables what these stand for, local scalars buffers of one element; all
// buffers that are made stand in one list.
#pragma once

#include <vector>

#include "transform/gradient/assignments.h"

namespace relish {

struct PlainStatements {
  Stmt body;
  std::vector<Buffer> locals;
  std::vector<Obstacle> obstacles;  // what cannot be said so
};
PlainStatements plain_statements(const PrimFunc& function);

}  // namespace relish

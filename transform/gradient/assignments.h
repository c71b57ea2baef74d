// A prim_func as a list of assignments: what is stored where, under which loops and conditions. Blocks,
// locals and the nesting of loops are resolved: block variables stand for their bindings, scalars and
// buffers that are made inside loops become buffers with a dimension for each of these loops.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/stmt.h"
#include "loops/inversion.h"

namespace relish {

// How an assignment changes its element: sets it, adds to it, or keeps the larger or smaller of both.
enum class Update : std::uint8_t { Set, Sum, Max, Min };

// A condition on the way, and where in the text it is evaluated: behind so many stores, in so many loops.
struct Guard {
  Scalar condition;
  std::size_t order, loops;
};
// A side of an if around an assignment.
struct IfSide {
  const IfStmt* branch;
  bool taken;
};

struct Assignment {
  std::vector<DomainAxis> loops;  // around it, outermost first
  std::vector<const For*> nodes;  // which loops of the text they are
  std::vector<Guard> guards;      // all hold
  std::vector<IfSide> sides;
  const BlockStmt* block = nullptr;  // the innermost around it
  bool init = false;                 // in the init of that block
  Buffer buffer;
  std::vector<Scalar> indices;
  Update update = Update::Set;
  Scalar value;   // what is set, added, compared
  Scalar stored;  // what the text stores: the element joined with the value
  Span span;
  std::size_t order = 0;  // in the text
};

// What stands in the way of a derivative, at its place.
struct Obstacle {
  Span span;
  std::string what;
};

struct Assignments {
  std::vector<Assignment> list;  // in the order of the text
  std::vector<Buffer> locals;    // all that are made inside
  std::vector<Obstacle> obstacles;
};
Assignments assignments_of(const PrimFunc& function);

}  // namespace relish

// The text of loops over blocks: their variables, and how much of an axis one block holds.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/stmt.h"
#include "schedule/shapes/shapes.h"

namespace relish {

struct BlockLoop {
  ScalarVar var;
  Scalar extent;
  LoopKind kind = LoopKind::Serial;
  Scalar begin = {};  // undefined: 0
};

// `value` stands for the axis, whichever of its variables is used.
void let_stand_for(ScalarMap& values, const Axis* axis, const Scalar& value);

// All loops count in one dtype.
class BlockText {
 public:
  BlockText(DType index, Span span) : index_(index), span_(span) {}

  Span span() const { return span_; }
  Scalar number(std::int64_t value) const { return int_literal(index_, value); }
  Scalar times(const Scalar& value, std::int64_t factor) const {
    return factor == 1 ? value : value * number(factor);
  }
  ScalarVar variable(const std::string& name) const { return {name, index_, span_}; }
  Stmt in_loops(const std::vector<BlockLoop>& loops, Stmt body) const;

  // The iteration of the cut axis that is so far inside of the chunk of that round; an undefined round is the
  // only one.
  Scalar iteration(const Blocked& blocks, const Scalar& round, const Scalar& inside) const;
  // How many iterations of the cut axis are in the chunk of that round.
  Scalar length(const Blocked& blocks, const Scalar& round) const;
  // The same of all elements of the block, as one minimum, which range proofs see through.
  Scalar elements_in(const Blocked& blocks, const Scalar& round) const;
  // How many tiles of so many elements hold the block of that round: all, or where only the run knows the
  // extent, those that are not empty.
  Scalar tiles_in(const Blocked& blocks, const Scalar& round, std::int64_t elements) const;
  // How many tiles of the block of that round have an element, and how many that tile has.
  Scalar tiles_with_elements(const Blocked& blocks, const Scalar& round, std::int64_t elements) const;
  Scalar elements_of_tile(const Blocked& blocks, const Scalar& round, const Scalar& tile,
                          std::int64_t elements) const;
  // The elements of so many tiles.
  Scalar in_tiles(const Scalar& tiles, std::int64_t elements) const;

 private:
  DType index_;
  Span span_;
};

}  // namespace relish

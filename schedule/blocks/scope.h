// A contraction while its blocks are written: what stands for its axes at the point that was reached.
#pragma once

#include <string>
#include <vector>

#include "schedule/blocks/text.h"
#include "schedule/shapes/shapes.h"

namespace relish {

// Places in a block: loops over its axes, and where among all elements of the block they are.
struct BlockPlaces {
  std::vector<BlockLoop> loops;
  Scalar position;

  std::vector<Scalar> variables() const {
    std::vector<Scalar> all;
    for (const BlockLoop& loop : loops) all.push_back(use(loop.var));
    return all;
  }
};

struct ContractionScope : BlockText {
  ContractionScope(const Contraction& written, const Target& target);
  ContractionScope(const Contraction& written, ContractionShapes sizes);

  const Contraction& contraction;
  const ContractionShapes shapes;
  const DType dtype;
  ScalarMap values;                              // of the axes
  Scalar row_round, column_round, summed_round;  // undefined: the only ones

  // Which part of all terms: by the axes around it and its round; undefined: the only one.
  Scalar part() const;
  // Loops over the places of a block, which stand for its axes from then on.
  BlockPlaces places(const Blocked& blocks, const Scalar& round);
  // `apart`, with one loop over the last axes whose elements lie side by side in what is loaded (or stored)
  // there, where these are more than one: its variable has that name, and its digits stand for the axes.
  BlockPlaces as_one(const Load& there, const Blocked& blocks, const Scalar& round, const std::string& name,
                     BlockPlaces apart);
  // That place of a block's axis (the cut one is first) stands for it.
  void stand_in_block(const Blocked& blocks, const Scalar& round, std::size_t axis, const Scalar& place);
};

// Lets the digits of `term` stand for the axes of a part from that one on (the cut one is first), and tells
// how many terms these have.
std::int64_t joined_terms(ScalarMap& values, const BlockText& text, const Blocked& summed,
                          const Scalar& round, std::size_t first, const Scalar& term);

}  // namespace relish

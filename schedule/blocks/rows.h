// The rows of a contraction's tiles: the loops over tiles, and where a row of one is among those of its
// block.
#pragma once

#include <vector>

#include "schedule/blocks/text.h"
#include "schedule/shapes/shapes.h"

namespace relish {

// A row of a tile: which of its rows, which of the block's, and with windows its places on the axes of the
// block.
struct TileRow {
  Scalar in_tile, in_block;
  std::vector<Scalar> places;
};

// Tiles of rows that follow each other; of a left factor by windows tiles of some places of each axis, so
// that rows of a tile are the same distances apart in every tile.
class RowTiles {
 public:
  RowTiles(const BlockText& text, const ContractionShapes& shapes, const Scalar& round);

  const std::vector<BlockLoop>& loops() const { return loops_; }
  // Which tile, where rows follow each other.
  const Scalar& tile() const { return tiles_.front(); }
  // Where all rows of a tile are along that axis of a block by windows, the cut one first; undefined: they
  // are at several places.
  Scalar place(std::size_t axis) const;
  // Which of all tiles of a block of rows.
  const Scalar& among_all() const { return among_all_; }
  // The row of a tile by loops that are put to the others.
  TileRow row(std::vector<BlockLoop>& loops) const;

 private:
  // Of an axis of a block of rows, the cut one first.
  std::string name(std::size_t axis) const;
  std::int64_t places(std::size_t axis) const;
  Scalar unrolled(const std::string& name, std::int64_t extent, std::vector<BlockLoop>& loops) const;

  const BlockText& text_;
  const ContractionShapes& shapes_;
  std::vector<BlockLoop> loops_;
  Scalar among_all_;
  std::vector<Scalar> tiles_;  // of each axis with windows; undefined: it has one
};

}  // namespace relish

// The sizes of a contraction's blocks and tiles: which axes run around blocks, how long their chunks are,
// what a tile of registers holds.
#pragma once

#include <algorithm>
#include <optional>

#include "schedule/shapes/contraction_parts.h"
#include "schedule/shapes/tiles.h"

namespace relish {

// More than any block holds, where only the run knows it.
inline std::int64_t extent_of(const Axis* axis) {
  return axis->loop->extent.as_int().value_or(INT64_MAX / 4);
}

// Axes in blocks: some run around the blocks, one is cut into chunks, the rest lies whole inside a block.
struct Blocked {
  std::vector<const Axis*> around, inside;
  std::vector<std::int64_t> spans;  // of the axes inside: how many places of a block each takes
  const Axis* cut = nullptr;
  std::int64_t chunk = 1, inner = 1;

  std::int64_t size() const { return chunk * inner; }
  // Whether every block is made of whole tiles of so many elements; the last one may have fewer of them.
  bool in_whole_tiles(std::int64_t tile) const {
    return known() && inside.empty() && extent_of(cut) % tile == 0 && (rounds() == 1 || chunk % tile == 0);
  }
  // Whether all blocks have the same number of elements, and the same of whole tiles.
  bool even() const { return known() && extent_of(cut) % chunk == 0; }
  bool even_in_tiles(std::int64_t tile) const { return even() && in_whole_tiles(tile); }
  std::int64_t rounds() const { return rounds_of(extent_of(cut), chunk); }
  // The same of all axes around, which are of known extents.
  std::int64_t parts() const;
  bool known() const { return cut->loop->extent.as_int().has_value(); }
  bool whole() const { return around.empty() && rounds() == 1; }
  bool has_known_parts() const {
    return known() && std::all_of(around.begin(), around.end(),
                                  [](const Axis* axis) { return axis->loop->extent.as_int().has_value(); });
  }
};

// How a panel holds the elements (rows or columns) of a block.
enum class PanelOrder {
  ByElement,  // the terms of an element side by side
  ByTerm,     // the elements of a term side by side
  ByTile,     // tile by tile, in each the elements of a term side by side: a tile reads one run of memory
  ByWindow,   // the places that columns and terms see, once each: a tile reads runs that begin at its terms
};

// What a tile asks for of a panel before other tiles read it.
struct Ahead {
  std::int64_t share = 0;  // so many places among the terms; 0: nothing
  std::int64_t terms = 1;  // so many terms lie between two places
  std::int64_t lines = 1;  // so many lines of a cache are at each place
};

struct ContractionShapes {
  Blocked rows, columns, summed;
  RegisterTile tile;
  PanelOrder left = PanelOrder::ByElement, right = PanelOrder::ByTile;
  bool direct = false;        // the right factor is read where it is and has no panel
  bool left_direct = false;   // the same of the left factor
  bool left_once = false;     // one panel holds all of the left factor
  bool stores_tiles = false;  // a tile is stored to the result, without sums of a block
  // The last part of the terms of a tile is joined to its sums on the way to the result.
  bool finishes_tiles = false;
  bool right_once = false;  // one panel holds all of the right factor
  // Blocks of columns are around those of rows: the threads take columns, of which each copies its own.
  bool columns_first = false;
  // Each part of the terms goes over all rows, whose blocks are a few tiles and tasks of the threads; its
  // panel of columns stays in the cache that a core has for itself.
  bool parts_first = false;
  Ahead right_ahead, left_ahead;
  // Of the factors themselves, where each part of the terms goes over all rows: a tile's share of all lines,
  // of so many `terms` (or elements) each, of which `lines` lie side by side.
  Ahead rows_ahead, columns_ahead;
  // A tile asks for the elements that are read behind its sums, and is stored to the result when these are
  // complete.
  bool asks = false;
  // Of a left factor by windows: how many places of each axis of a block of rows, the cut one first, a tile
  // has.
  std::vector<std::int64_t> row_places;
  // Of a right factor by windows whose places lie between those of columns: so many columns are side by side
  // in its panel, and tiles are parts of them. 0: tiles run on over all places.
  std::int64_t segment = 0;

  // So many lanes of a vector are stored to the result: all, or all columns.
  std::int64_t stored_lanes() const {
    return stores_tiles || finishes_tiles ? std::min(tile.lanes, columns.size()) : tile.lanes;
  }
  bool in_windows() const { return right == PanelOrder::ByWindow; }
  bool left_in_windows() const { return left == PanelOrder::ByWindow; }
  // The rows and columns of a block, in whole tiles.
  std::int64_t rows_in_tiles() const {
    if (left_in_windows()) return rounds_of(rows.chunk, row_places[0]) * row_places[0] * rows.inner;
    return rounds_of(rows.size(), tile.rows) * tile.rows;
  }
  // Whether the elements of a block, with these terms, are much fewer than its sums.
  bool small_beside_sums(const std::vector<const Axis*>& terms, bool of_columns) const;
  std::int64_t columns_in_tiles() const { return rounds_of(columns.size(), tile.columns()) * tile.columns(); }
  // Tiles of a block.
  std::int64_t row_tiles() const { return rows_in_tiles() / tile.rows; }
  std::int64_t column_tiles() const { return columns_in_tiles() / tile.columns(); }
};

// Whether the last indices are the terms, in their order, all of them but for the first.
bool ends_with(const Load& loaded, const std::vector<const Axis*>& terms);
// Whether the factor runs along memory with that axis.
bool moves_along(const Scalar& factor, const Axis* axis);
// Whether the terms of a row lie side by side in the left factor.
inline bool runs_by_rows(const Contraction& contraction) {
  return moves_along(contraction.left, contraction.summed.back());
}

// Whether sums are turned on their way to the result: blocks have as columns what does not run along its
// memory.
bool turns_sums(const Contraction& contraction, const ContractionShapes& shapes);

// By extents and the target alone.
ContractionShapes shapes_of(const Contraction& contraction, const Target& target);

// What lies so many bytes apart falls into one place of a first cache, of which the rows of a tile may take
// so many lines: the others hold the panel of the right factor.
inline constexpr std::int64_t bytes_of_places = 1 << 12, most_lines_in_place = 4;

// Rows whose number only the run knows, where they are few.
struct FewRows {
  ContractionShapes shapes;  // blocks of columns that go over all rows, which they read where they are
  Scalar holds;              // whether the rows are few
};
// Beside the shapes that are chosen for any number of rows; none when it is known, or rows must be copied.
std::optional<FewRows> few_rows_of(const Contraction& contraction, const ContractionShapes& shapes);

}  // namespace relish

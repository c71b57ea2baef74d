// Tiles of a contraction: how many rows and vectors of columns are summed in registers at once.
#pragma once

#include <cstdint>

#include "schedule/target.h"

namespace relish {

inline std::int64_t rounds_of(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }

struct RegisterTile {
  std::int64_t rows = 1, vectors = 1, lanes = 1;
  std::int64_t columns() const { return vectors * lanes; }
};

// What a tile is chosen for.
struct TileTask {
  std::int64_t rows, columns, terms;  // of a block
  std::int64_t lanes, bytes;          // of a vector, of an element
  // Where tiles may be stored, how many rows and columns there are, of which tiles are to be whole; else 0.
  std::int64_t stored_rows, stored_columns;
  // Tiles are parts of so many columns; 0: of all.
  std::int64_t segment = 0;
  // Where rows lie side by side in what is copied tile by tile, how many there are: whole tiles are copied by
  // vectors. Else 0.
  std::int64_t copied_rows = 0;
};

// More rows than that have no registers on any processor.
inline constexpr std::int64_t most_tile_rows = 16;

// A tile, and the time that all tiles of a block take for one term, in products of a vector.
struct TimedTile {
  RegisterTile tile;
  double cost = 1e300;
};

// The time of that tile, of which all together have `rows` rows.
double tile_cost(const TileTask& task, const RegisterTile& tile, std::int64_t rows, const Target& target);
// The tile of so many rows that takes least time.
TimedTile best_vectors(const TileTask& task, std::int64_t in_tile, std::int64_t rows, const Target& target);
// The tile that takes least time.
TimedTile timed_tile(const TileTask& task, const Target& target);
inline RegisterTile best_tile(const TileTask& task, const Target& target) {
  return timed_tile(task, target).tile;
}

}  // namespace relish

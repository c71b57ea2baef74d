// Choosing the tile by what its products, loads and idle lanes take.
#include "schedule/shapes/tiles.h"

#include <algorithm>

namespace relish {
namespace {

// Chains of sums that are under way at once: latency times instructions a cycle.
constexpr double chains = 8;
// What the copy of an element of a row takes, in products of a vector, when it is copied by itself.
constexpr double copied_alone = 2;
// Costs as near as that are the same.
constexpr double less = 0.999;

// Whether the sums of a tile, a term of its columns and two of its rows have registers.
bool fits_registers(std::int64_t rows, std::int64_t vectors, const Target& target) {
  return rows * vectors == 1 || rows * vectors + vectors + 2 <= target.vector_registers;
}

}  // namespace

double tile_cost(const TileTask& task, const RegisterTile& tile, std::int64_t rows, const Target& target) {
  const std::int64_t sums = tile.rows * tile.vectors, wide = tile.columns();
  const auto products = static_cast<double>(rows * rounds_of(task.columns, wide) * tile.vectors);
  double loads = 0.4 * static_cast<double>(tile.rows + tile.vectors) / static_cast<double>(sums);
  // All tiles of a column read one part of the panel: when the first cache has no room for it and for
  // rows, it comes from the next one.
  if (task.terms * wide * task.bytes > target.first_cache_bytes * 3 / 4)
    loads += 0.8 / static_cast<double>(tile.rows);
  if (task.copied_rows % tile.rows != 0)
    loads += copied_alone * static_cast<double>(task.lanes) / static_cast<double>(task.columns);
  // The copy of the sums to the result, of one part, is spared where tiles are whole, or one vector has all
  // columns.
  const bool all_columns =
      task.stored_columns % wide == 0 || (tile.vectors == 1 && task.stored_columns < wide);
  const bool whole = task.stored_rows > 0 && task.stored_rows % tile.rows == 0 && all_columns;
  return products * (1 + loads) * std::max(1.0, chains / static_cast<double>(sums)) * (whole ? 0.9 : 1);
}

TimedTile best_vectors(const TileTask& task, std::int64_t in_tile, std::int64_t rows, const Target& target) {
  TimedTile best{{1, 1, task.lanes}};
  for (std::int64_t vectors = 1; vectors <= 4; ++vectors) {
    const RegisterTile tile{in_tile, vectors, task.lanes};
    if (!fits_registers(in_tile, vectors, target) || tile.columns() - task.lanes >= task.columns) continue;
    if (task.segment > 0 && task.segment % tile.columns() != 0) continue;
    const double cost = tile_cost(task, tile, rows, target);
    if (cost < best.cost * less) best = {tile, cost};
  }
  return best;
}

TimedTile timed_tile(const TileTask& task, const Target& target) {
  TimedTile best{{1, 1, task.lanes}};
  for (std::int64_t in_tile = 1; in_tile <= std::min(task.rows, most_tile_rows); ++in_tile) {
    const TimedTile each = best_vectors(task, in_tile, rounds_of(task.rows, in_tile) * in_tile, target);
    if (each.cost < best.cost * less) best = each;
  }
  return best;
}

}  // namespace relish

// Shares of the next tile's part of a panel, a line of the caches at a time.
#include "schedule/blocks/ahead.h"

#include <algorithm>

namespace relish {
namespace {

Stmt asks_for(const ContractionScope& scope, const Buffer& panel, std::vector<Scalar> at) {
  return make_stmt(Evaluate{load(panel, std::move(at))}, scope.span());
}

// A tile asks for so many lines at most: they must arrive while it is computed.
constexpr std::int64_t most_asked = 64;
// Of a panel that is so many times as large as the private cache a tile finds nothing there.
constexpr std::int64_t times_private_cache = 4;

bool is_far(std::int64_t bytes, const Target& target) {
  return bytes >= times_private_cache * target.private_cache_bytes;
}

Ahead of_right(const ContractionShapes& shapes, std::int64_t bytes, const Target& target) {
  const Blocked& summed = shapes.summed;
  const std::int64_t elements = shapes.columns.rounds() * shapes.columns_in_tiles();
  if (!shapes.right_once || shapes.right != PanelOrder::ByTile || shapes.row_tiles() < 2 ||
      !is_far(elements * summed.parts() * summed.size() * bytes, target))
    return {};
  Ahead ahead;
  ahead.lines = std::max<std::int64_t>(1, shapes.tile.columns() * bytes / target.line_bytes);
  ahead.share = rounds_of(summed.size(), shapes.row_tiles());
  return ahead.share * ahead.lines <= most_asked ? ahead : Ahead{};
}

Ahead of_left(const ContractionShapes& shapes, std::int64_t bytes, const Target& target) {
  const Blocked& summed = shapes.summed;
  const bool by_element = shapes.left == PanelOrder::ByElement;
  const std::int64_t elements = shapes.rows.rounds() * shapes.rows_in_tiles();
  if (!shapes.left_once || !(by_element || shapes.left == PanelOrder::ByTile) || summed.parts() < 2 ||
      !is_far(elements * summed.parts() * summed.size() * bytes, target))
    return {};
  Ahead ahead;
  ahead.terms =
      std::max<std::int64_t>(1, target.line_bytes / (by_element ? bytes : shapes.tile.rows * bytes));
  ahead.share = rounds_of(rounds_of(summed.size(), ahead.terms), shapes.column_tiles());
  return ahead.share * (by_element ? shapes.tile.rows : 1) <= most_asked ? ahead : Ahead{};
}

// What is behind the end is asked for at its last place. `reached`: the largest value there is.
Scalar at_most(const ContractionScope& scope, const Scalar& value, std::int64_t last, std::int64_t reached) {
  return reached > last ? min(value, scope.number(last)) : value;
}

// A loop over shares; none for one.
Scalar shares(const ContractionScope& scope, const std::string& name, std::int64_t count,
              std::vector<BlockLoop>& loops) {
  if (count == 1) return scope.number(0);
  const ScalarVar var = scope.variable(name);
  loops.push_back({var, scope.number(count), LoopKind::Unrolled});
  return use(var);
}

// so * many + more, without what is 0.
Scalar joined(const ContractionScope& scope, const Scalar& many, std::int64_t times, const Scalar& more) {
  return more.as_int() == 0 ? scope.times(many, times) : scope.times(many, times) + more;
}

}  // namespace

void ask_ahead(ContractionShapes& shapes, std::int64_t bytes, const Target& target) {
  shapes.right_ahead = of_right(shapes, bytes, target);
  shapes.left_ahead = of_left(shapes, bytes, target);
}

Stmt asked_of_right(const ContractionScope& scope, const Panel& right, const RowTiles& rows,
                    const Scalar& column_tile) {
  const ContractionShapes& shapes = scope.shapes;
  const Ahead& ahead = shapes.right_ahead;
  const std::int64_t tiles = shapes.column_tiles(), all = shapes.summed.parts() * tiles;
  // The next tile of this part, or the first of the next part.
  const Scalar here = scope.part().defined() ? joined(scope, scope.part(), tiles, column_tile) : column_tile;
  const Scalar next = at_most(scope, here + scope.number(1), all - 1, all);
  std::vector<BlockLoop> loops;
  const Scalar share = shares(scope, "ahead", ahead.share, loops),
               line = shares(scope, "line", ahead.lines, loops);
  const Scalar term = at_most(scope, joined(scope, rows.among_all(), ahead.share, share),
                              shapes.summed.size() - 1, shapes.row_tiles() * ahead.share - 1);
  const BlockPlace element{
      {}, floor_mod(next, scope.number(tiles)), scope.times(line, shapes.tile.columns() / ahead.lines)};
  return scope.in_loops(
      loops, asks_for(scope, right.buffer(),
                      right.at(scope.column_round, floor_div(next, scope.number(tiles)), term, element)));
}

Stmt asked_of_left(const ContractionScope& scope, const Panel& left, const RowTiles& rows,
                   const Scalar& column_tile) {
  const ContractionShapes& shapes = scope.shapes;
  const Ahead& ahead = shapes.left_ahead;
  const std::int64_t parts = shapes.summed.parts();
  const Scalar next = at_most(scope, scope.part() + scope.number(1), parts - 1, parts);
  std::vector<BlockLoop> loops;
  const Scalar share = shares(scope, "ahead", ahead.share, loops);
  BlockPlace element{{}, rows.tile(), scope.number(0)};
  if (shapes.left == PanelOrder::ByElement) {
    const TileRow row = rows.row(loops);
    element = {row.in_block, rows.tile(), row.in_tile};
  }
  const Scalar line = joined(scope, column_tile, ahead.share, share);
  const Scalar term = at_most(scope, scope.times(line, ahead.terms), shapes.summed.size() - 1,
                              (shapes.column_tiles() * ahead.share - 1) * ahead.terms);
  return scope.in_loops(loops, asks_for(scope, left.buffer(), left.at(scope.row_round, next, term, element)));
}

}  // namespace relish

// The next part of a factor, a share of its lines for each tile.
#include "schedule/blocks/sources.h"

#include <vector>

namespace relish {
namespace {

// So many lines of a factor a tile at most, each beside so many products of vectors: they must arrive while
// the sums of a block are computed, and asking must take no time of its own.
constexpr std::int64_t most_lines_asked = 32, products_of_line = 128;
// What takes less than so much of a private cache is taken to be there, or to come soon.
constexpr std::int64_t part_of_cache = 4;

// A factor as runs of its part in a block: the terms of an element, or the elements of a term.
struct FactorRuns {
  const Scalar& factor;
  const Blocked& blocks;
  bool by_terms;

  std::int64_t runs(const ContractionShapes& shapes) const {
    return by_terms ? blocks.chunk : shapes.summed.size();
  }
  std::int64_t length(const ContractionShapes& shapes) const {
    return by_terms ? shapes.summed.size() : blocks.chunk;
  }
};

FactorRuns left_of(const Contraction& contraction, const ContractionShapes& shapes) {
  return {contraction.left, shapes.rows, runs_by_rows(contraction)};
}
FactorRuns right_of(const Contraction& contraction, const ContractionShapes& shapes) {
  return {contraction.right, shapes.columns, moves_along(contraction.right, contraction.summed.back())};
}

std::int64_t elements(const std::vector<const Axis*>& axes, std::int64_t all) {
  for (const Axis* axis : axes)
    if (__builtin_mul_overflow(all, extent_of(axis), &all)) return INT64_MAX;
  return all;
}

// The share of each of so many tiles, where the factor is `all` elements.
Ahead ahead_of(const FactorRuns& source, const ContractionShapes& shapes, std::int64_t all,
               std::int64_t tiles, std::int64_t bytes, const Target& target) {
  const auto* loaded = source.factor.as<Load>();
  if (loaded == nullptr || static_cast<std::int64_t>(size_of(loaded->buffer->dtype())) != bytes ||
      !source.blocks.inside.empty() || all <= target.private_cache_bytes / (part_of_cache * bytes))
    return {};
  if (!source.by_terms && !moves_along(source.factor, source.blocks.cut)) return {};
  Ahead ahead;
  ahead.terms = target.line_bytes / bytes;
  ahead.lines = rounds_of(source.length(shapes), ahead.terms);
  ahead.share = rounds_of(ahead.lines * source.runs(shapes), tiles);
  const std::int64_t products = shapes.tile.rows * shapes.tile.vectors * shapes.summed.size();
  return ahead.share <= most_lines_asked && ahead.share * products_of_line <= products ? ahead : Ahead{};
}

// The digits of a number stand for the axes around blocks; the last one is the round of the axis that is cut.
Scalar stand_at_block(ScalarMap& values, const BlockText& text, const Blocked& blocks, Scalar number) {
  Scalar round;
  if (blocks.rounds() > 1) {
    const Scalar rounds = text.number(blocks.rounds());
    round = floor_mod(number, rounds);
    if (!blocks.around.empty()) number = floor_div(number, rounds);
  }
  for (std::size_t i = blocks.around.size(); i-- > 0;) {
    const Scalar extent = text.number(extent_of(blocks.around[i]));
    let_stand_for(values, blocks.around[i], i > 0 ? floor_mod(number, extent) : number);
    if (i > 0) number = floor_div(number, extent);
  }
  return round;
}

// Which of all blocks of rows or columns this one is.
Scalar number_of_block(const ContractionScope& scope, const Blocked& blocks, const Scalar& round) {
  Scalar at;
  const auto joins = [&](const Scalar& inside, std::int64_t extent) {
    at = at.defined() ? scope.times(at, extent) + inside : inside;
  };
  for (const Axis* axis : blocks.around) joins(scope.values.at(axis->var.id()), extent_of(axis));
  if (round.defined()) joins(round, blocks.rounds());
  return at.defined() ? at : scope.number(0);
}

// number / count and number % count.
std::pair<Scalar, Scalar> parted(const BlockText& text, const Scalar& number, std::int64_t count) {
  if (count == 1) return {number, text.number(0)};
  return {floor_div(number, text.number(count)), floor_mod(number, text.number(count))};
}

void end_with_last(ScalarMap& values, const BlockText& text, const Blocked& blocks) {
  if (blocks.even()) return;
  const Scalar last = blocks.cut->loop->extent - text.number(1);
  let_stand_for(values, blocks.cut, min(values.at(blocks.cut->var.id()), last));
}

// Where a source is asked for: what stands for the axes around its block and its part, and both rounds.
struct Next {
  ScalarMap values;
  Scalar round, part_round;
};

// `tile`: the number of the tile among `tiles` that share the lines.
Stmt asks(const ContractionScope& scope, const FactorRuns& source, const Ahead& ahead, Next next,
          const Scalar& tile, std::int64_t tiles) {
  const ContractionShapes& shapes = scope.shapes;
  std::vector<BlockLoop> loops;
  Scalar line = tile;
  if (ahead.share > 1) {
    const ScalarVar share = scope.variable("ahead");
    loops.push_back({share, scope.number(ahead.share), LoopKind::Unrolled});
    line = scope.times(line, ahead.share) + use(share);
  }
  const std::int64_t lines = ahead.lines * source.runs(shapes);
  if (tiles * ahead.share > lines) line = min(line, scope.number(lines - 1));
  const auto [run, in_run] = parted(scope, line, ahead.lines);
  const Scalar inside = in_run.as_int() ? in_run : scope.times(in_run, ahead.terms);
  joined_terms(next.values, scope, shapes.summed, next.part_round, 0, source.by_terms ? inside : run);
  end_with_last(next.values, scope, shapes.summed);
  let_stand_for(next.values, source.blocks.cut,
                scope.iteration(source.blocks, next.round, source.by_terms ? run : inside));
  end_with_last(next.values, scope, source.blocks);
  return scope.in_loops(loops, make_stmt(Evaluate{substitute(source.factor, next.values)}, scope.span()));
}

std::int64_t tiles_of_block(const ContractionShapes& shapes) {
  return shapes.row_tiles() * shapes.column_tiles();
}

Scalar number_of_tile(const ContractionScope& scope, const RowTiles& rows, const Scalar& column_tile) {
  return scope.times(column_tile, scope.shapes.row_tiles()) + rows.tile();
}

// The number behind that of the part, among all; the last one stays.
Scalar next_of(const ContractionScope& scope, const Scalar& outside, std::int64_t count, const Scalar& inside,
               std::int64_t all) {
  const Scalar here = outside.defined() ? scope.times(outside, count) + inside : inside;
  return min(here + scope.number(1), scope.number(all - 1));
}

}  // namespace

void ask_for_sources(const Contraction& contraction, ContractionShapes& shapes, std::int64_t bytes,
                     const Target& target) {
  const std::int64_t terms = elements(contraction.summed, 1), tiles = tiles_of_block(shapes);
  shapes.rows_ahead =
      ahead_of(left_of(contraction, shapes), shapes, elements(contraction.rows, terms), tiles, bytes, target);
  if (shapes.rows.has_known_parts() && shapes.columns.has_known_parts() && shapes.summed.has_known_parts())
    shapes.columns_ahead =
        ahead_of(right_of(contraction, shapes), shapes, elements(contraction.columns, terms),
                 tiles * shapes.rows.parts(), bytes, target);
}

Stmt asked_of_rows(const ContractionScope& scope, const RowTiles& rows, const Scalar& column_tile) {
  const ContractionShapes& shapes = scope.shapes;
  Next next{scope.values, {}, scope.summed_round};
  if (shapes.rows.has_known_parts() && shapes.summed.has_known_parts()) {
    // The first block of the next part is behind the last one of this part.
    const std::int64_t blocks = shapes.rows.parts();
    const Scalar at =
        next_of(scope, scope.part(), blocks, number_of_block(scope, shapes.rows, scope.row_round),
                blocks * shapes.summed.parts());
    const auto [part, block] = parted(scope, at, blocks);
    next.round = stand_at_block(next.values, scope, shapes.rows, block);
    next.part_round = stand_at_block(next.values, scope, shapes.summed, part);
  } else if (scope.row_round.defined()) {
    next.round = scope.row_round + scope.number(1);
    if (shapes.rows.known()) next.round = min(next.round, scope.number(shapes.rows.rounds() - 1));
  }
  return asks(scope, left_of(scope.contraction, shapes), shapes.rows_ahead, std::move(next),
              number_of_tile(scope, rows, column_tile), tiles_of_block(shapes));
}

Stmt asked_of_columns(const ContractionScope& scope, const RowTiles& rows, const Scalar& column_tile) {
  const ContractionShapes& shapes = scope.shapes;
  const std::int64_t parts = shapes.summed.parts(), blocks = shapes.rows.parts();
  const Scalar part = scope.part();
  const Scalar at = next_of(scope, scope.column_round, parts, part.defined() ? part : scope.number(0),
                            parts * shapes.columns.rounds());
  const auto [column_block, next_part] = parted(scope, at, parts);
  Next next{scope.values, {}, {}};
  if (shapes.columns.rounds() > 1) next.round = column_block;
  next.part_round = stand_at_block(next.values, scope, shapes.summed, next_part);
  const Scalar tile =
      scope.times(number_of_block(scope, shapes.rows, scope.row_round), tiles_of_block(shapes)) +
      number_of_tile(scope, rows, column_tile);
  return asks(scope, right_of(scope.contraction, shapes), shapes.columns_ahead, std::move(next), tile,
              blocks * tiles_of_block(shapes));
}

}  // namespace relish

// Stores of sums, turned first where the result runs along what a block has as rows.
#include "schedule/blocks/results.h"

#include "schedule/blocks/window_copies.h"

namespace relish {
namespace {

// The sum joined to what the element begins with.
Stmt joined(const ContractionScope& scope, const ScalarMap& values, const Scalar& sum) {
  const Store& store = *scope.contraction.nest->store;
  std::vector<Scalar> at;
  for (const Scalar& index : store.indices) at.push_back(substitute(index, values));
  const Scalar first =
      scope.contraction.init ? substitute(scope.contraction.init->value, values) : load(store.buffer, at);
  const auto* literal = first.as<FloatLiteral>();
  const Scalar value = literal && literal->value == 0 ? sum : first + sum;
  return make_stmt(Store{store.buffer, std::move(at), value}, scope.span());
}

// Rows of so many elements at most are stored as one vector, which the processor takes in a few parts.
constexpr std::int64_t longest_stored_vector = 64;

// Whether the loop is better one vector than many and a rest behind them.
bool as_one_vector(const ContractionScope& scope, const BlockLoop& last) {
  const auto extent = last.extent.as_int();
  return scope.contraction.by_vectors && extent && *extent > 1 && *extent <= longest_stored_vector &&
         *extent % scope.shapes.tile.lanes != 0;
}

// The same of columns whose last axis is the first of the result. The places of an item are one loop: they
// lie side by side where the result has no other axis between them.
Stmt stored_by_items(const ContractionScope& scope, const Buffer& sums, const BlockPlaces& row,
                     const BlockPlaces& column) {
  const BlockLoop& item = column.loops.back();
  const std::int64_t places = scope.shapes.columns.size() / extent_of(scope.contraction.columns.back());
  const Buffer turned("turned", scope.dtype, {sums.shape()[0], item.extent, scope.number(places)});
  const ScalarVar place = scope.variable("place");
  ScalarMap values = scope.values;
  Scalar above = use(place);
  for (std::size_t i = scope.shapes.columns.inside.size() - 1; i-- > 0;) {
    const Scalar extent = scope.number(scope.shapes.columns.spans[i]);
    let_stand_for(values, scope.shapes.columns.inside[i], floor_mod(above, extent));
    above = floor_div(above, extent);
  }
  let_stand_for(values, scope.shapes.columns.cut,
                scope.iteration(scope.shapes.columns, scope.column_round, above));
  std::vector<BlockLoop> loops = row.loops;
  loops.push_back(item);
  loops.push_back({place, scope.number(places)});
  BlockStmt block;
  block.name = "turned";
  block.allocations = {turned};
  block.body = seq(
      {turned_items(scope, turned, sums),
       scope.in_loops(loops, joined(scope, values, load(turned, {row.position, use(item.var), use(place)})))},
      scope.span());
  return make_stmt(std::move(block), scope.span());
}

}  // namespace

Stmt cleared_sums(const ContractionScope& scope, const Buffer& sums) {
  const ScalarVar row = scope.variable("row"), column = scope.variable("column");
  return scope.in_loops(
      {{row, scope.shapes.left_in_windows()
                 ? scope.number(scope.shapes.rows_in_tiles())
                 : scope.in_tiles(scope.tiles_in(scope.shapes.rows, scope.row_round, scope.shapes.tile.rows),
                                  scope.shapes.tile.rows)},
       {column,
        scope.in_tiles(scope.tiles_in(scope.shapes.columns, scope.column_round, scope.shapes.tile.columns()),
                       scope.shapes.tile.columns())}},
      make_stmt(Store{sums, {use(row), use(column)}, zero(scope.dtype)}, scope.span()));
}

Stmt stored_at(const ContractionScope& scope, const Scalar& row, const Scalar& column, const Scalar& sum) {
  ScalarMap values = scope.values;
  let_stand_for(values, scope.shapes.rows.cut, scope.iteration(scope.shapes.rows, scope.row_round, row));
  let_stand_for(values, scope.shapes.columns.cut,
                scope.iteration(scope.shapes.columns, scope.column_round, column));
  return joined(scope, values, sum);
}

Stmt asked(const ContractionScope& scope, const Scalar& row_tile, const Scalar& column_tile) {
  const RegisterTile& tile = scope.shapes.tile;
  const ScalarVar row = scope.variable("row"), vector = scope.variable("vector");
  ScalarMap values = scope.values;
  let_stand_for(
      values, scope.shapes.rows.cut,
      scope.iteration(scope.shapes.rows, scope.row_round, row_tile * scope.number(tile.rows) + use(row)));
  const Blocked& columns = scope.shapes.columns;
  const Scalar column =
      scope.iteration(columns, scope.column_round,
                      column_tile * scope.number(tile.columns()) + use(vector) * scope.number(tile.lanes));
  let_stand_for(values, columns.cut,
                columns.in_whole_tiles(tile.columns())
                    ? column
                    : min(column, columns.cut->loop->extent - scope.number(1)));
  const Store& store = *scope.contraction.nest->store;
  std::vector<Scalar> at;
  for (const Scalar& index : store.indices) at.push_back(substitute(index, values));
  return scope.in_loops(
      {{row, scope.elements_of_tile(scope.shapes.rows, scope.row_round, row_tile, tile.rows)},
       {vector, scope.number(tile.vectors), LoopKind::Unrolled}},
      make_stmt(Evaluate{load(store.buffer, std::move(at))}, scope.span()));
}

Stmt stored_tile(const ContractionScope& scope,
                 const std::function<Scalar(const BlockPlace& row, const BlockPlace& column)>& sum,
                 const Scalar& row_tile, const Scalar& column_tile) {
  const RegisterTile& tile = scope.shapes.tile;
  const ScalarVar row = scope.variable("row"), column = scope.variable("column");
  const Scalar in_rows = row_tile * scope.number(tile.rows) + use(row),
               in_columns = column_tile * scope.number(tile.columns()) + use(column);
  const Scalar columns =
      scope.elements_of_tile(scope.shapes.columns, scope.column_round, column_tile, tile.columns());
  return scope.in_loops(
      {{row, scope.elements_of_tile(scope.shapes.rows, scope.row_round, row_tile, tile.rows)},
       {column, columns, columns.as_int() ? LoopKind::Vectorized : LoopKind::Serial}},
      stored_at(scope, in_rows, in_columns,
                sum({in_rows, row_tile, use(row)}, {in_columns, column_tile, use(column)})));
}

// Sums whose rows run along the result are turned first, so that what stores them does, too.
Stmt stored(ContractionScope& scope, const Buffer& sums) {
  BlockPlaces row = scope.places(scope.shapes.rows, scope.row_round),
              column = scope.places(scope.shapes.columns, scope.column_round);
  if (scope.contraction.items_last) return stored_by_items(scope, sums, row, column);
  const bool turns = turns_sums(scope.contraction, scope.shapes);
  const Store& store = *scope.contraction.nest->store;
  const Scalar there = load(store.buffer, store.indices);
  const std::size_t apart = (turns ? row : column).loops.size();
  if (turns)
    row = scope.as_one(*there.as<Load>(), scope.shapes.rows, scope.row_round, "place", std::move(row));
  else
    column =
        scope.as_one(*there.as<Load>(), scope.shapes.columns, scope.column_round, "place", std::move(column));
  std::vector<BlockLoop> loops = turns ? column.loops : row.loops;
  const std::vector<BlockLoop>& inner = turns ? row.loops : column.loops;
  loops.insert(loops.end(), inner.begin(), inner.end());
  const bool joined_places = (turns ? row : column).loops.size() != apart;
  if (!joined_places && as_one_vector(scope, loops.back())) loops.back().kind = LoopKind::Vectorized;
  if (!turns)
    return scope.in_loops(loops, joined(scope, scope.values, load(sums, {row.position, column.position})));
  const Buffer turned("turned", scope.dtype, {sums.shape()[1], sums.shape()[0]});
  const ScalarVar each_row = scope.variable("row"), each_column = scope.variable("column");
  const Stmt turn = scope.in_loops(
      {{each_column, sums.shape()[1]}, {each_row, sums.shape()[0]}},
      make_stmt(
          Store{turned, {use(each_column), use(each_row)}, load(sums, {use(each_row), use(each_column)})},
          scope.span()));
  BlockStmt block;
  block.name = "turned";
  block.allocations = {turned};
  block.body =
      seq({turn,
           scope.in_loops(loops, joined(scope, scope.values, load(turned, {column.position, row.position})))},
          scope.span());
  return make_stmt(std::move(block), scope.span());
}

}  // namespace relish

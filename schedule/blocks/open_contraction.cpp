// Blocks of contractions with an open number of terms:
//
//   for every block of columns, every part of at most 256 terms:
//     copy the part of `right` into a panel (tile, term, column)
//     for every block of rows, at once:
//       copy the part of `left` into a panel
//       for every tile of rows x columns: sum the products in registers, add them to the result
//
// A tile that ends behind the last column has zeros there in its panel, behind the last row that one again,
// and stores what is in the result. A panel of the columns fills half of the cache that a core has for
// itself, since every block of rows reads all of it; blocks of rows are a few tiles, so that there are
// several of them at once also of few rows.
//
// Of few rows the blocks of columns run at once, each with a panel that its own thread fills, and the rows
// are read where they are:
//
//   for every tile of columns, at once, every part of at most 256 terms:
//     copy the part of `right` into a panel
//     for every tile of rows: sum the products in registers, add them to the result
//
// Fewer columns than a vector has, and those of the fewest rows, are read where they are, and so are the
// rows: panels would be used once or twice.
#include "schedule/blocks/open_contraction.h"

#include <algorithm>
#include <functional>

#include "schedule/blocks/copies.h"
#include "schedule/blocks/results.h"
#include "schedule/blocks/rows.h"
#include "schedule/blocks/sources.h"
#include "schedule/blocks/terms.h"

namespace relish {
namespace {

// Rows of a block, as near as whole tiles come to it.
constexpr std::int64_t rows_of_block = 32;
// A part has so many terms at most.
constexpr std::int64_t terms_of_open_part = 256;
// Rows whose number only the run knows are rows_guessed to be so many, and are few below that.
constexpr std::int64_t rows_guessed = 64, fewest_rows = 4;
// So many rows, or less, are read where they are by each tile of columns: they stay in the cache of a core.
constexpr std::int64_t few_blocks_of_rows = 256;
// So many sums are under way at once: vectors of columns that one of few rows reads, or rows of one vector.
constexpr std::int64_t vectors_of_few = 4, rows_of_vector = 8;

// How the rows and columns are read.
enum class Form { Panels, ColumnsAtOnce, NarrowColumns, FewRows };

class OpenWriter : private ContractionScope {
 public:
  OpenWriter(const Contraction& written, ContractionShapes shapes, Form form)
      : ContractionScope(written, std::move(shapes)), form_(form) {}

  Stmt write() {
    std::vector<BlockLoop> outside;
    for (const Axis* axis : contraction.around) {
      const ScalarVar var = variable(axis->loop->var.name());
      outside.push_back({var, axis->loop->extent});
      let_stand_for(values, axis, use(var));
    }
    const bool columns_at_once = form_ == Form::ColumnsAtOnce;
    column_round = round_of(shapes.columns, outside, columns_at_once ? LoopKind::Parallel : LoopKind::Serial);
    if (columns_at_once) row_round = round_of(shapes.rows, outside);
    if (form_ != Form::Panels && !columns_at_once) {
      const bool at_once = form_ == Form::NarrowColumns;
      row_round = round_of(shapes.rows, outside, at_once ? LoopKind::Parallel : LoopKind::Serial);
      summed_round = round_of_terms(outside);
      return in_loops(outside, tiles());
    }
    summed_round = round_of_terms(outside);
    BlockStmt part;
    part.name = "contraction";
    right_ = Panel(*this, name_of(contraction.right, "right"), dtype, shapes.right, shapes.columns,
                   shapes.summed, shapes.tile.columns(), shapes.tile.lanes, false);
    part.allocations.push_back(right_.buffer());
    const Stmt copies = copied_right(*this, right_);
    part.body = seq({copies, columns_at_once ? tiles() : rows()}, span());
    return in_loops(outside, make_stmt(std::move(part), span()));
  }

 private:
  static std::string name_of(const Scalar& factor, const std::string& side) {
    const auto* loaded = factor.as<Load>();
    return loaded ? loaded->buffer->name() : side;
  }

  // A loop over the chunks of an axis; undefined when there is one.
  Scalar round_of(const Blocked& blocks, std::vector<BlockLoop>& loops,
                  LoopKind kind = LoopKind::Serial) const {
    if (blocks.rounds() == 1) return {};
    const ScalarVar var = variable(blocks.cut->loop->var.name() + "_0");
    const Scalar& extent = blocks.cut->loop->extent;
    if (blocks.known())
      loops.push_back({var, number(blocks.rounds()), kind});
    else
      loops.push_back(
          {var,
           blocks.chunk == 1 ? extent : floor_div(extent + number(blocks.chunk - 1), number(blocks.chunk)),
           kind});
    return use(var);
  }
  // A result that begins with the first part has one also of no terms.
  Scalar round_of_terms(std::vector<BlockLoop>& loops) const {
    const Scalar round = round_of(shapes.summed, loops);
    if (contraction.init) loops.back().extent = max(number(1), loops.back().extent);
    return round;
  }

  // The blocks of rows, each with its panel.
  Stmt rows() {
    std::vector<BlockLoop> loops;
    row_round = round_of(shapes.rows, loops, LoopKind::Parallel);
    left_ = Panel(*this, name_of(contraction.left, "left"), dtype, shapes.left, shapes.rows, shapes.summed,
                  shapes.tile.rows, shapes.tile.lanes, false);
    BlockStmt block;
    block.name = "rows";
    block.allocations = {left_.buffer()};
    const Stmt copies = copied_rows(*this, left_);
    block.body = seq({copies, tiles()}, span());
    return in_loops(loops, make_stmt(std::move(block), span()));
  }

  // A statement for every element of a tile, by its row and its column there. `guard`: of the row.
  template <class Guard, class Make>
  Stmt each_of_tile(const RowTiles& tiles, const Guard& guard, const Make& make) const {
    std::vector<BlockLoop> of_rows, of_lanes;
    const TileRow row = form_ == Form::FewRows ? TileRow{number(0), number(0), {}} : tiles.row(of_rows);
    const ScalarVar vector = variable("vector"), lane = variable("lane");
    Scalar column = use(lane);
    if (shapes.tile.vectors > 1) {
      of_lanes.push_back({vector, number(shapes.tile.vectors), LoopKind::Unrolled});
      column = use(vector) * number(shapes.tile.lanes) + use(lane);
    }
    of_lanes.push_back({lane, number(shapes.tile.lanes), LoopKind::Vectorized});
    Stmt body = in_loops(of_lanes, make(row, column));
    if (const Scalar holds = guard(row); holds.defined()) body = make_stmt(IfStmt{holds, body, {}}, span());
    return in_loops(of_rows, body);
  }

  // Whether that element of the block is one of the axis; undefined: it always is.
  Scalar inside(const Blocked& blocks, const Scalar& round, const Scalar& element,
                std::int64_t in_tile) const {
    if (blocks.chunk == 1 || blocks.in_whole_tiles(in_tile)) return {};
    return iteration(blocks, round, element) < blocks.cut->loop->extent;
  }

  // A factor where it is, behind the last element of tiles that one.
  Scalar in_place(const Scalar& factor, const Scalar& term, const Blocked& blocks, const Scalar& round,
                  const Scalar& element, std::int64_t in_tile) const {
    const Scalar at = iteration(blocks, round, element);
    const bool exact = blocks.chunk == 1 || blocks.in_whole_tiles(in_tile);
    ScalarMap places = values;
    let_stand_for(places, shapes.summed.cut, iteration(shapes.summed, summed_round, term));
    let_stand_for(places, blocks.cut, exact ? at : min(at, blocks.cut->loop->extent - number(1)));
    return substitute(factor, places);
  }
  // A column, of vectors that may end behind the last.
  Scalar column_in_place(const Scalar& term, const Scalar& column) const {
    ScalarMap places = values;
    let_stand_for(places, shapes.summed.cut, iteration(shapes.summed, summed_round, term));
    let_stand_for(places, shapes.columns.cut, iteration(shapes.columns, column_round, column));
    const Scalar read = substitute(contraction.right, places);
    const Scalar holds = inside(shapes.columns, column_round, column, shapes.tile.columns());
    return holds.defined() ? if_then_else(holds, read, zero(dtype)) : read;
  }

  // The sums of a tile, put to the result.
  Stmt added(const RowTiles& rows, const Buffer& tile,
             const std::function<Scalar(Scalar)>& in_columns) const {
    const auto stores = [&](bool first) {
      return each_of_tile(
          rows,
          [&](const TileRow& row) { return inside(shapes.rows, row_round, row.in_block, shapes.tile.rows); },
          [&](const TileRow& row, const Scalar& column) {
            const Scalar sum = load(tile, {row.in_tile, column});
            Stmt store = stored_at(*this, row.in_block, in_columns(column), sum);
            if (!first && contraction.init) {
              const auto& there = *store.as<Store>();
              store = make_stmt(Store{there.buffer, there.indices, load(there.buffer, there.indices) + sum},
                                span());
            }
            const Scalar holds =
                inside(shapes.columns, column_round, in_columns(column), shapes.tile.columns());
            return holds.defined() ? make_stmt(IfStmt{holds, store, {}}, span()) : store;
          });
    };
    if (!contraction.init) return stores(false);
    // One behind the other: what is stored first is no argument that is read.
    return seq({make_stmt(IfStmt{equal(summed_round, number(0)), stores(true), {}}, span()),
                make_stmt(IfStmt{number(0) < summed_round, stores(false), {}}, span())},
               span());
  }

  Stmt tiles() {
    const Buffer tile("tile", dtype, {number(shapes.tile.rows), number(shapes.tile.columns())}, "local");
    const ScalarVar column_tile = variable("column_tile");
    const RowTiles rows(*this, shapes, row_round);
    const bool one_tile = shapes.columns.chunk == shapes.tile.columns();
    const auto in_columns = [&](const Scalar& column) {
      return one_tile ? column : use(column_tile) * number(shapes.tile.columns()) + column;
    };
    const auto always = [](const TileRow&) { return Scalar(); };
    std::vector<Stmt> body, asks;
    if (shapes.rows_ahead.share > 0)  // where there are terms
      asks.push_back(make_stmt(IfStmt{number(0) < contraction.summed.front()->loop->extent,
                                      asked_of_rows(*this, rows, use(column_tile)),
                                      {}},
                               span()));
    if (form_ == Form::Panels)
      asks.push_back(asked(*this, rows.tile(), one_tile ? number(0) : use(column_tile)));
    body.push_back(each_of_tile(rows, always, [&](const TileRow& row, const Scalar& column) {
      return make_stmt(Store{tile, {row.in_tile, column}, zero(dtype)}, span());
    }));
    const bool right_panel = form_ == Form::Panels || form_ == Form::ColumnsAtOnce;
    const auto left_at = [&](const TileRow& row, const Scalar& term) {
      return form_ == Form::Panels
                 ? load(left_.buffer(), left_.at({}, {}, term, {row.in_block, rows.tile(), row.in_tile}))
                 : in_place(contraction.left, term, shapes.rows, row_round, row.in_block, shapes.tile.rows);
    };
    const auto right_at = [&](const Scalar& column, const Scalar& term) {
      return right_panel
                 ? load(right_.buffer(),
                        right_.at({}, {}, term,
                                  {in_columns(column), one_tile ? number(0) : use(column_tile), column}))
                 : column_in_place(term, in_columns(column));
    };
    const auto terms = [&] {
      const ScalarVar term = variable("term");
      return BlockPlaces{{{term, elements_in(shapes.summed, summed_round)}}, use(term)};
    };
    const auto products = [&](const BlockPlaces& sum) {
      const Scalar& term = sum.position;
      return each_of_tile(rows, always, [&](const TileRow& row, const Scalar& column) {
        const std::vector<Scalar> at{row.in_tile, column};
        return make_stmt(Store{tile, at, load(tile, at) + left_at(row, term) * right_at(column, term)},
                         span());
      });
    };
    body.push_back(summed_with_asks(*this, terms, products, std::move(asks)));
    body.push_back(added(rows, tile, in_columns));
    BlockStmt block;
    block.name = "tile";
    block.allocations = {tile};
    block.body = seq(std::move(body), span());
    std::vector<BlockLoop> loops;
    if (!one_tile)
      loops.push_back(
          {column_tile, tiles_with_elements(shapes.columns, column_round, shapes.tile.columns())});
    if (form_ != Form::FewRows) loops.insert(loops.end(), rows.loops().begin(), rows.loops().end());
    return in_loops(loops, make_stmt(std::move(block), span()));
  }

  const Form form_;
  Panel left_, right_;
};

Blocked cut_into(const Axis* axis, std::int64_t chunk) {
  Blocked blocks;
  blocks.cut = axis;
  blocks.chunk = std::min(chunk, extent_of(axis));
  return blocks;
}

ContractionShapes shapes_for(const Contraction& contraction, const Target& target, Form form) {
  const auto bytes = static_cast<std::int64_t>(size_of(contraction.nest->store->buffer.dtype()));
  const std::int64_t lanes = target.vector_bytes / bytes;
  const Axis *row = contraction.rows.front(), *column = contraction.columns.front();
  ContractionShapes shapes;
  shapes.summed = cut_into(contraction.summed.front(), terms_of_open_part);
  if (form == Form::NarrowColumns || form == Form::FewRows) {
    const bool few = form == Form::FewRows;
    shapes.tile = few ? RegisterTile{1, std::min(vectors_of_few, rounds_of(extent_of(column), lanes)), lanes}
                      : RegisterTile{std::min(rows_of_vector, extent_of(row)), 1, lanes};
    shapes.rows = cut_into(row, few ? 1 : rows_of_block);
    shapes.columns = cut_into(column, shapes.tile.columns());
    return shapes;
  }
  const std::int64_t most = std::max(target.private_cache_bytes / (2 * terms_of_open_part * bytes), lanes);
  const TileTask task{std::min(extent_of(row), rows_guessed),
                      std::min(extent_of(column), most),
                      terms_of_open_part,
                      lanes,
                      bytes,
                      0,
                      0};
  shapes.tile = best_tile(task, target);
  const auto whole = [](std::int64_t size, std::int64_t tile) { return std::max(size / tile * tile, tile); };
  const bool at_once = form == Form::ColumnsAtOnce;
  shapes.rows = cut_into(row, whole(at_once ? few_blocks_of_rows : rows_of_block, shapes.tile.rows));
  shapes.columns = cut_into(column, at_once ? shapes.tile.columns() : whole(most, shapes.tile.columns()));
  shapes.left = runs_by_rows(contraction) ? PanelOrder::ByElement : PanelOrder::ByTile;
  shapes.right = PanelOrder::ByTile;
  if (form == Form::Panels && shapes.columns.chunk > shapes.tile.columns())
    ask_for_sources(contraction, shapes, bytes, target);
  return shapes;
}

// When the run has so few rows that each tile of columns reads them where they are. None: rows are known, or
// their terms do not lie side by side, or there is one tile of columns.
std::optional<Scalar> reads_rows_in_place(const Contraction& contraction, const Target& target) {
  const Scalar &rows = contraction.rows.front()->loop->extent,
               &terms = contraction.summed.front()->loop->extent;
  const RegisterTile tile = shapes_for(contraction, target, Form::ColumnsAtOnce).tile;
  if (rows.as_int() || !runs_by_rows(contraction) || !contraction.around.empty() ||
      extent_of(contraction.columns.front()) <= tile.columns())
    return std::nullopt;
  const auto number = [](std::int64_t value, const Scalar& like) { return int_literal(like.dtype(), value); };
  const Scalar few = rows < number(few_blocks_of_rows + 1, rows);
  if (tile.rows <= most_lines_in_place) return few;
  const auto bytes = static_cast<std::int64_t>(size_of(contraction.nest->store->buffer.dtype()));
  return logical(LogicalOp::And, few,
                 number(0, terms) < floor_mod(terms, number(bytes_of_places / bytes, terms)));
}

}  // namespace

std::optional<Stmt> open_contraction(const Contraction& contraction, const Target& target) {
  const auto* begin = contraction.init ? contraction.init->value.as<FloatLiteral>() : nullptr;
  if (contraction.guard.defined() || (contraction.init && !begin) || contraction.rows.size() != 1 ||
      contraction.columns.size() != 1 || contraction.summed.size() != 1 ||
      contraction.summed.front()->loop->extent.as_int())
    return std::nullopt;
  const auto written = [&](Form form) {
    return OpenWriter(contraction, shapes_for(contraction, target, form), form).write();
  };
  const Span span = contraction.nest->store_stmt->span;
  const Scalar &rows = contraction.rows.front()->loop->extent,
               &columns = contraction.columns.front()->loop->extent;
  const auto bytes = static_cast<std::int64_t>(size_of(contraction.nest->store->buffer.dtype()));
  const std::int64_t lanes = target.vector_bytes / bytes;
  // What lies side by side in the factor becomes vectors, in which its columns may end.
  const bool reads_vectors = moves_along(contraction.right, contraction.columns.front());
  Stmt body = written(Form::Panels);
  if (const auto few = reads_rows_in_place(contraction, target))
    body = make_stmt(IfStmt{*few, written(Form::ColumnsAtOnce), body}, span);
  if (reads_vectors && !columns.as_int())
    body = make_stmt(
        IfStmt{columns < int_literal(columns.dtype(), lanes + 1), written(Form::NarrowColumns), body}, span);
  if (reads_vectors && !rows.as_int())
    body =
        make_stmt(IfStmt{rows < int_literal(rows.dtype(), fewest_rows), written(Form::FewRows), body}, span);
  return body;
}

}  // namespace relish

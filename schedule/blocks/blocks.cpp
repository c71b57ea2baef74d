// Blocks, panels and tiles of a contraction:
//
//   for every axis around, block of rows, block of columns:
//     for every part of at most 256 summed terms:
//       copy the part of `right` into a panel (summed, column), that of `left` into one (row, summed)
//       for every tile of rows x columns: sum the products in registers; the first part sets the block's
//         sums, later ones are joined to them, and the last one goes to the result where tiles are whole
//     where it does not, store the block's sums to the result
//
// Of many rows and factors that no private cache holds, each part of the terms goes over all rows:
//
//   for every block of columns, every part of at most 256 summed terms:
//     copy the part of `right` into a panel
//     for every block of rows, at once:
//       copy the part of `left` into one
//       for every tile: sum, and join to what the result holds of the parts before, or the sums beside it
//
// Where several blocks of columns use the same rows, all parts of `left` are copied once, before the blocks;
// likewise those of `right` where several blocks of rows use the same columns.
// Of rows that are few, blocks of columns are so many that the threads share them, and each copies its own
// part of `right`: what another core has copied comes to this one slowly. Where only the run knows how many
// rows there are, it takes that form or the other one. Panels are as long as whole tiles. What lies behind
// the last row or column is computed and never read. Of an axis whose extent only the run knows, blocks are
// as large as they can be, and tiles behind its end are left out. Few rows (one tile or two) read `right`
// where it is when its rows are whole tiles long: a panel would be used once.
#include "schedule/blocks/blocks.h"

#include "schedule/blocks/ahead.h"
#include "schedule/blocks/copies.h"
#include "schedule/blocks/guards.h"
#include "schedule/blocks/padding.h"
#include "schedule/blocks/results.h"
#include "schedule/blocks/rows.h"
#include "schedule/blocks/sources.h"
#include "schedule/blocks/terms.h"
#include "schedule/blocks/window_copies.h"

namespace relish {
namespace {

std::string panel_name(const Scalar& factor, const std::string& side) {
  const auto* loaded = factor.as<Load>();
  return loaded ? loaded->buffer->name() : side;
}

class ContractionWriter : private ContractionScope {
 public:
  ContractionWriter(const Contraction& written, ContractionShapes sizes)
      : ContractionScope(written, std::move(sizes)) {}

  Stmt write() {
    for (const Axis* axis : contraction.around) open(axis);
    const std::size_t around = loops_.size();
    if (shapes.parts_first) return close(in_parts(), 0);
    for (const Blocked* blocks : {&shapes.rows, &shapes.columns})
      for (const Axis* axis : blocks->around) open(axis);
    if (shapes.columns_first) column_round = open_rounds(shapes.columns);
    row_round = open_rounds(shapes.rows);
    if (!shapes.columns_first) column_round = open_rounds(shapes.columns);
    const std::size_t outside = loops_.size();

    if (shapes.in_windows())
      windows_ = WindowPanel(*this, panel_name(contraction.right, "right"), dtype, contraction.windows,
                             shapes.columns, shapes.summed, shapes.tile, shapes.segment);
    else if (!shapes.direct)
      right_ = Panel(*this, panel_name(contraction.right, "right"), dtype, shapes.right, shapes.columns,
                     shapes.summed, shapes.tile.columns(), shapes.tile.lanes, shapes.right_once);
    if (shapes.left_in_windows())
      left_windows_ = MeetingPanel(*this, panel_name(contraction.left, "left"), dtype, contraction, shapes);
    else if (!shapes.left_direct)
      left_ = Panel(*this, panel_name(contraction.left, "left"), dtype, shapes.left, shapes.rows,
                    shapes.summed, shapes.tile.rows, shapes.tile.lanes, shapes.left_once);
    joins_ = !shapes.summed.whole();
    const bool of_tile = shapes.asks && !joins_;
    sums_ = Buffer("sums", dtype,
                   {number(of_tile ? shapes.tile.rows : shapes.rows_in_tiles()),
                    number(of_tile ? shapes.tile.columns() : shapes.columns_in_tiles())});

    open_parts();
    std::vector<Stmt> part;
    if (!shapes.direct && !shapes.right_once)
      part.push_back(shapes.in_windows() ? copied_windows(*this, windows_) : copied_right(*this, right_));
    if (!shapes.left_direct && !shapes.left_once)
      part.push_back(shapes.left_in_windows() ? copied_meetings(*this, left_windows_)
                                              : copied_left(*this, left_));
    part.push_back(tiles());
    Stmt body = close(seq(std::move(part), span()), outside);

    std::vector<Stmt> block;
    if (shapes.in_windows()) block.push_back(cleared_panel(*this, windows_.buffer()));
    if (left_windows_.has_padding()) block.push_back(cleared_panel(*this, left_windows_.buffer()));
    if (joins_ && !begins_sums()) block.push_back(cleared_sums(*this, sums_));
    block.push_back(body);
    if (contraction.guard.defined()) block.push_back(mended(*this, sums_, cleared_sums(*this, sums_)));
    if (!shapes.stores_tiles && !shapes.asks && !shapes.finishes_tiles)
      block.push_back(relish::stored(*this, sums_));
    BlockStmt whole;
    whole.name = "contraction";
    if (!shapes.left_direct && !shapes.left_once)
      whole.allocations.push_back(shapes.left_in_windows() ? left_windows_.buffer() : left_.buffer());
    if (!shapes.direct && !shapes.right_once)
      whole.allocations.push_back(shapes.in_windows() ? windows_.buffer() : right_.buffer());
    if (!shapes.stores_tiles && !of_tile) whole.allocations.push_back(sums_);
    whole.body = seq(std::move(block), span());
    const Stmt blocks = close(make_stmt(std::move(whole), span()), around);
    return close(shapes.left_once || shapes.right_once ? behind_panels(blocks) : blocks, 0);
  }

 private:
  // A loop over a whole axis, around all that follows.
  void open(const Axis* axis) {
    const ScalarVar var = variable(axis->loop->var.name());
    loops_.push_back({var, axis->loop->extent});
    let_stand_for(values, axis, use(var));
  }
  // A loop over the chunks of an axis; undefined when there is one.
  Scalar open_rounds(const Blocked& blocks) {
    if (blocks.rounds() == 1) return {};
    const ScalarVar var = variable(blocks.cut->loop->var.name() + "_0");
    const Scalar& extent = blocks.cut->loop->extent;
    loops_.push_back({var, blocks.known()
                               ? number(blocks.rounds())
                               : floor_div(extent + number(blocks.chunk - 1), number(blocks.chunk))});
    return use(var);
  }
  void open_parts() {
    for (const Axis* axis : shapes.summed.around) open(axis);
    summed_round = open_rounds(shapes.summed);
  }
  // The statement in the loops that were opened since there were so many.
  Stmt close(Stmt body, std::size_t outside) {
    const std::vector<BlockLoop> own(loops_.begin() + static_cast<std::ptrdiff_t>(outside), loops_.end());
    loops_.resize(outside);
    return in_loops(own, std::move(body));
  }

  // Where a column of the block and a term of the part are in the panel of the right factor.
  std::vector<Scalar> in_right(const Scalar& term, const BlockPlace& column) const {
    return right_.at(column_round, part(), term, column);
  }

  // What of both factors is copied once, in its panels, then the blocks.
  Stmt behind_panels(const Stmt& blocks) {
    const std::size_t outside = loops_.size();
    BlockStmt whole;
    whole.name = "panels";
    std::vector<Stmt> body;
    if (shapes.left_once) {
      whole.allocations.push_back(left_.buffer());
      row_round = open_rounds(shapes.rows);
      open_parts();
      body.push_back(close(copied_left(*this, left_), outside));
    }
    if (shapes.right_once) {
      whole.allocations.push_back(right_.buffer());
      column_round = open_rounds(shapes.columns);
      open_parts();
      body.push_back(close(copied_right(*this, right_), outside));
    }
    body.push_back(blocks);
    whole.body = seq(std::move(body), span());
    return make_stmt(std::move(whole), span());
  }

  // The blocks where each part of the terms goes over all rows.
  Stmt in_parts() {
    column_round = open_rounds(shapes.columns);
    const std::size_t of_columns = loops_.size();
    open_parts();
    const std::size_t of_part = loops_.size();
    joins_ = !shapes.summed.whole();
    in_result_ = joins_ && contraction.ends_here && shapes.finishes_tiles && contraction.begins_with_zero();
    sums_ = Buffer("sums", dtype, extents_of_sums());
    right_ = Panel(*this, panel_name(contraction.right, "right"), dtype, shapes.right, shapes.columns,
                   shapes.summed, shapes.tile.columns(), shapes.tile.lanes, false);
    left_ = Panel(*this, panel_name(contraction.left, "left"), dtype, shapes.left, shapes.rows, shapes.summed,
                  shapes.tile.rows, shapes.tile.lanes, false);
    const Stmt columns = copied_right(*this, right_);
    for (const Axis* axis : shapes.rows.around) open(axis);
    row_round = open_rounds(shapes.rows);
    loops_[of_part].kind = LoopKind::Parallel;  // there may be fewer blocks of columns than threads
    const Stmt rows = copied_rows(*this, left_);
    const Stmt blocks = close(in_block("rows", {left_.buffer()}, {rows, tiles()}), of_part);
    const Stmt parts = close(in_block("part", {right_.buffer()}, {columns, blocks}), of_columns);
    std::vector<Buffer> kept;
    if (joins_ && !in_result_) kept.push_back(sums_);
    return in_block("contraction", std::move(kept), {parts});
  }

  // Of all rows and a block of columns; where the result holds the sums so far, of a tile.
  std::vector<Scalar> extents_of_sums() const {
    if (!joins_ || in_result_) return {number(shapes.tile.rows), number(shapes.tile.columns())};
    std::vector<Scalar> extents;
    for (const Axis* axis : shapes.rows.around) extents.push_back(axis->loop->extent);
    extents.push_back(number(shapes.rows.rounds() * shapes.rows_in_tiles()));
    extents.push_back(number(shapes.columns_in_tiles()));
    return extents;
  }

  Stmt in_block(const std::string& name, std::vector<Buffer> allocations, std::vector<Stmt> body) const {
    BlockStmt block;
    block.name = name;
    block.allocations = std::move(allocations);
    block.body = seq(std::move(body), span());
    return make_stmt(std::move(block), span());
  }

  // Where the sum of an element is among those that are kept from part to part.
  std::vector<Scalar> in_sums(const Scalar& row, const Scalar& column) const {
    if (!shapes.parts_first) return {row, column};
    std::vector<Scalar> at;
    for (const Axis* axis : shapes.rows.around) at.push_back(values.at(axis->var.id()));
    at.push_back(iteration(shapes.rows, row_round, row));
    at.push_back(column);
    return at;
  }

  // A statement for every element of a tile, by its row and its column there, in so many lanes.
  // `holds`: of which rows; undefined for all.
  template <class Make, class Holds>
  Stmt each_of_tile(const RowTiles& tiles, std::int64_t lanes, const Make& make, const Holds& holds) const {
    std::vector<BlockLoop> of_rows, of_lanes;
    const TileRow row = tiles.row(of_rows);
    const ScalarVar vector = variable("vector"), lane = variable("lane");
    Scalar column = use(lane);
    if (shapes.tile.vectors > 1) {
      of_lanes.push_back({vector, number(shapes.tile.vectors), LoopKind::Unrolled});
      column = use(vector) * number(shapes.tile.lanes) + use(lane);
    }
    of_lanes.push_back({lane, number(lanes), LoopKind::Vectorized});
    return in_loops(of_rows, where(holds(row), in_loops(of_lanes, make(row, column))));
  }
  template <class Make>
  Stmt each_of_tile(const RowTiles& tiles, std::int64_t lanes, const Make& make) const {
    return each_of_tile(tiles, lanes, make, [](const TileRow&) { return Scalar(); });
  }
  // The statement where the condition holds; undefined: everywhere.
  Stmt where(const Scalar& holds, const Stmt& stmt) const {
    return holds.defined() ? make_stmt(IfStmt{holds, stmt, {}}, span()) : stmt;
  }
  // Whether that element of the block is one of its axis; undefined: it is one.
  Scalar exists(const Blocked& blocks, const Scalar& round, const Scalar& element,
                std::int64_t in_tile) const {
    if (!shapes.parts_first || blocks.in_whole_tiles(in_tile)) return {};
    return iteration(blocks, round, element) < blocks.cut->loop->extent;
  }

  // The terms of a part: one loop, where no factor is read by windows.
  BlockPlaces terms_of_part() {
    if (shapes.in_windows() || shapes.left_in_windows()) return places(shapes.summed, summed_round);
    const ScalarVar term = variable("term");
    return {{{term, elements_in(shapes.summed, summed_round)}}, use(term)};
  }

  // Terms run over those that count for some element of the tile.
  void leave_padding_out(BlockPlaces& terms, const RowTiles& rows, const Scalar& column_tile) const {
    const auto narrow = [&](const Axis* along, const Scalar& place, const Axis* term) {
      const Blocked& summed = shapes.summed;
      const auto inside = std::find(summed.inside.begin(), summed.inside.end(), term);
      const auto loop = static_cast<std::size_t>(inside - summed.inside.begin()) + 1;
      if (inside == summed.inside.end() && (term != summed.cut || !summed.whole())) return;
      const auto seen = seen_terms(*this, contraction.guard, *along, place, *term);
      if (!seen) return;
      BlockLoop& narrowed = terms.loops[inside == summed.inside.end() ? 0 : loop];
      narrowed.begin = seen->begin;
      narrowed.extent = seen->extent;
    };
    if (shapes.in_windows() && shapes.segment > 0) {
      const std::vector<Scalar> along = windows_.outside_of(*this, column_tile);
      for (std::size_t i = 0; i < along.size(); ++i) {
        const WindowAxis& window = contraction.windows[i];
        if (window.term)
          narrow(window.column, i == 0 ? iteration(shapes.columns, column_round, along[i]) : along[i],
                 window.term);
      }
    }
    if (!shapes.left_in_windows()) return;
    for (const Meeting& meeting : contraction.meetings) {
      const Blocked& blocks = shapes.rows;
      const auto inside = std::find(blocks.inside.begin(), blocks.inside.end(), meeting.row);
      if (inside == blocks.inside.end() && meeting.row != blocks.cut) continue;
      const bool cut = inside == blocks.inside.end();
      const auto axis = cut ? 0 : static_cast<std::size_t>(inside - blocks.inside.begin()) + 1;
      const Scalar place = rows.place(axis);
      if (place.defined() && (cut || blocks.spans[axis - 1] == extent_of(meeting.row)))
        narrow(meeting.row, cut ? iteration(blocks, row_round, place) : place, meeting.term);
    }
  }

  // T.evaluate of the sums of a tile so far: between two parts of its terms all other tiles go by.
  Stmt asked_of_sums(const RowTiles& rows, const Scalar& column_tile) const {
    std::vector<BlockLoop> loops;
    const TileRow row = rows.row(loops);
    Scalar column = column_tile * number(shapes.tile.columns());
    if (shapes.tile.vectors > 1) {
      const ScalarVar vector = variable("vector");
      loops.push_back({vector, number(shapes.tile.vectors), LoopKind::Unrolled});
      column = column + use(vector) * number(shapes.tile.lanes);
    }
    return in_loops(loops, make_stmt(Evaluate{load(sums_, in_sums(row.in_block, column))}, span()));
  }

  // A factor where it is, at a term of the part and an element of the block; behind the last element that
  // one.
  Scalar in_place(const Scalar& factor, const Scalar& term, const Blocked& blocks, const Scalar& round,
                  const Scalar& element, std::int64_t in_tile) const {
    ScalarMap values = this->values;
    if (!shapes.in_windows()) joined_terms(values, *this, shapes.summed, summed_round, 0, term);
    const Scalar found = iteration(blocks, round, element);
    let_stand_for(values, blocks.cut,
                  blocks.in_whole_tiles(in_tile) ? found : min(found, blocks.cut->loop->extent - number(1)));
    return substitute(factor, values);
  }

  // What a tile asks for while it is summed.
  std::vector<Stmt> asked_by_tile(const RowTiles& rows, const Scalar& column_tile) const {
    std::vector<Stmt> asks;
    if (shapes.right_ahead.share > 0) asks.push_back(asked_of_right(*this, right_, rows, column_tile));
    if (shapes.left_ahead.share > 0) asks.push_back(asked_of_left(*this, left_, rows, column_tile));
    if (shapes.rows_ahead.share > 0) asks.push_back(asked_of_rows(*this, rows, column_tile));
    if (shapes.columns_ahead.share > 0) asks.push_back(asked_of_columns(*this, rows, column_tile));
    if (in_result_)
      asks.push_back(asked(*this, rows.tile(), column_tile));
    else if (joins_ && shapes.parts_first)
      asks.push_back(asked_of_sums(rows, column_tile));
    if (shapes.asks) asks.push_back(in_last_part(asked(*this, rows.tile(), column_tile)));
    return asks;
  }

  Stmt tiles() {
    const Buffer tile("tile", dtype, {number(shapes.tile.rows), number(shapes.tile.columns())}, "local");
    const ScalarVar column_tile = variable("column_tile");
    const RowTiles rows(*this, shapes, row_round);
    const auto in_columns = [&](const Scalar& column) {
      return use(column_tile) * number(shapes.tile.columns()) + column;
    };
    std::vector<Stmt> body;
    body.push_back(each_of_tile(rows, shapes.tile.lanes, [&](const TileRow& row, const Scalar& column) {
      return make_stmt(Store{tile, {row.in_tile, column}, zero(dtype)}, span());
    }));
    const auto products = [&](const BlockPlaces& sum) {
      return each_of_tile(rows, shapes.tile.lanes, [&](const TileRow& row, const Scalar& column) {
        const Scalar left =
            shapes.left_in_windows()
                ? load(left_windows_.buffer(), left_windows_.at(*this, row.places, sum.variables()))
            : shapes.left_direct ? in_place(contraction.left, sum.position, shapes.rows, row_round,
                                            row.in_block, shapes.tile.rows)
                                 : load(left_.buffer(), left_.at(row_round, part(), sum.position,
                                                                 {row.in_block, rows.tile(), row.in_tile}));
        const Scalar right =
            shapes.in_windows()
                ? load(windows_.buffer(), windows_.at(*this, sum.variables(), use(column_tile), column))
            : shapes.direct ? in_place(contraction.right, sum.position, shapes.columns, column_round,
                                       in_columns(column), shapes.tile.columns())
                            : load(right_.buffer(),
                                   in_right(sum.position, {in_columns(column), use(column_tile), column}));
        return make_stmt(Store{tile, {row.in_tile, column}, load(tile, {row.in_tile, column}) + left * right},
                         span());
      });
    };
    const auto terms = [&] {
      BlockPlaces sum = terms_of_part();
      if (contraction.guard.defined()) leave_padding_out(sum, rows, use(column_tile));
      return sum;
    };
    body.push_back(summed_with_asks(*this, terms, products, asked_by_tile(rows, use(column_tile))));
    enum class To { Tile, Sums, JoinedSums, Result, JoinedResult };
    const auto summed = [&](To to) {
      const bool result = to == To::Result || to == To::JoinedResult;
      const std::int64_t lanes = result && !shapes.parts_first ? shapes.stored_lanes() : shapes.tile.lanes;
      const bool kept = to == To::Tile || (!result && !in_result_);
      const auto of_element = [&](const TileRow& row, const Scalar& column) {
        const Scalar part = load(tile, {row.in_tile, column});
        if (to == To::Tile) return make_stmt(Store{sums_, {row.in_tile, column}, part}, span());
        const std::vector<Scalar> at = in_sums(row.in_block, in_columns(column));
        const bool joined = to == To::JoinedSums || to == To::JoinedResult;
        const Scalar sum = joined && !in_result_ ? load(sums_, at) + part : part;
        if (kept) return make_stmt(Store{sums_, at, sum}, span());
        Stmt store = stored_at(*this, row.in_block, in_columns(column), sum);
        if (in_result_ && joined) {
          const auto& there = *store.as<Store>();
          store =
              make_stmt(Store{there.buffer, there.indices, load(there.buffer, there.indices) + part}, span());
        }
        return where(exists(shapes.columns, column_round, in_columns(column), shapes.tile.columns()), store);
      };
      return each_of_tile(rows, lanes, of_element, [&](const TileRow& row) {
        return kept ? Scalar() : exists(shapes.rows, row_round, row.in_block, shapes.tile.rows);
      });
    };
    if (!joins_) {
      body.push_back(summed(shapes.stores_tiles ? To::Result : shapes.asks ? To::Tile : To::Sums));
    } else if (!begins_sums()) {
      body.push_back(summed(To::JoinedSums));
    } else {
      const Scalar first = equal(part(), number(0));
      if (in_result_) {
        // One behind the other: what is stored first is no argument that is read.
        body.push_back(make_stmt(IfStmt{first, summed(To::Sums), {}}, span()));
        body.push_back(make_stmt(IfStmt{number(0) < part(), summed(To::JoinedSums), {}}, span()));
      } else {
        const Stmt later = !shapes.finishes_tiles ? summed(To::JoinedSums)
                           : shapes.summed.parts() == 2
                               ? summed(To::JoinedResult)
                               : in_last_part(summed(To::JoinedResult), summed(To::JoinedSums));
        body.push_back(make_stmt(IfStmt{first, summed(To::Sums), later}, span()));
      }
    }
    BlockStmt block;
    block.name = "tile";
    block.allocations = {tile};
    block.body = seq(std::move(body), span());
    Stmt whole = make_stmt(std::move(block), span());
    if (shapes.asks && !shapes.stores_tiles) whole = with_stored_tile(whole, rows.tile(), use(column_tile));
    std::vector<BlockLoop> tiles{
        {column_tile, tiles_with_elements(shapes.columns, column_round, shapes.tile.columns())}};
    tiles.insert(tiles.end(), rows.loops().begin(), rows.loops().end());
    return in_loops(tiles, std::move(whole));
  }

  // Whether the first part sets the sums of a block, to which later ones are joined. Where only the run knows
  // how many parts there are, there may be none.
  bool begins_sums() const { return joins_ && shapes.summed.has_known_parts(); }

  // The statement where the sums of a tile become complete, and another one before that.
  Stmt in_last_part(const Stmt& stmt, const Stmt& before = {}) const {
    if (!joins_) return stmt;
    const Scalar last = equal(part(), number(shapes.summed.parts() - 1));
    return make_stmt(IfStmt{last, stmt, before}, span());
  }

  // The tile, then the store of its sums, from a buffer of its own when it is one part of terms.
  Stmt with_stored_tile(const Stmt& tile, const Scalar& row_tile, const Scalar& column_tile) const {
    const Stmt store = in_last_part(stored_tile(
        *this,
        [&](const BlockPlace& row, const BlockPlace& column) {
          return joins_ ? load(sums_, in_sums(row.among_all, column.among_all))
                        : load(sums_, {row.inside, column.inside});
        },
        row_tile, column_tile));
    if (joins_) return seq({tile, store}, span());
    BlockStmt block;
    block.name = "stored";
    block.allocations = {sums_};
    block.body = seq({tile, store}, span());
    return make_stmt(std::move(block), span());
  }

  std::vector<BlockLoop> loops_;
  Panel left_, right_;
  WindowPanel windows_;
  MeetingPanel left_windows_;
  Buffer sums_;
  bool joins_ = false;      // a tile is one part of a sum
  bool in_result_ = false;  // the result holds the sums of the parts so far
};

}  // namespace

Stmt blocks_of(const Contraction& contraction, const Target& target) {
  ContractionShapes shapes = shapes_of(contraction, target);
  const auto bytes = static_cast<std::int64_t>(size_of(contraction.nest->store->buffer.dtype()));
  ask_ahead(shapes, bytes, target);
  if (shapes.parts_first) ask_for_sources(contraction, shapes, bytes, target);
  const Stmt blocks = ContractionWriter(contraction, shapes).write();
  const auto few = few_rows_of(contraction, shapes);
  if (!few) return blocks;
  return make_stmt(IfStmt{few->holds, ContractionWriter(contraction, few->shapes).write(), blocks},
                   contraction.nest->store_stmt->span);
}

}  // namespace relish

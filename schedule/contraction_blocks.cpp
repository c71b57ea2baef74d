// Blocks, panels and tiles of a contraction:
//
//   for every axis around, block of rows, block of columns:
//     for every part of at most 256 summed terms:
//       copy the part of `right` into a panel (summed, column), that of `left` into one (row, summed)
//       for every tile of rows x columns: sum the products in registers, join them to the block's sums
//     store the block's sums to the result
//
// Where several blocks of columns use the same rows, all parts of `left` are copied once, before the blocks;
// likewise those of `right` where several blocks of rows use the same columns.
// Panels are as long as whole tiles. What lies behind the last row or column is computed and never read. Of
// an axis whose extent only the run knows, blocks are as large as they can be, and tiles behind its end are
// left out. Few rows (one tile or two) read `right` where it is when its rows are whole tiles long: a panel
// would be used once.
#include "schedule/contraction_blocks.h"

#include <algorithm>

#include "loops/digits.h"
#include "schedule/block_text.h"
#include "schedule/contraction_panels.h"
#include "schedule/contraction_rows.h"
#include "schedule/contraction_shapes.h"
#include "schedule/contraction_turns.h"
#include "schedule/window_copies.h"

namespace relish {
namespace {

constexpr std::size_t none = MeetingPanel::Dimension::none;

// Places in a block: loops over its axes, and where among all elements of the block they are.
struct BlockPlaces {
  std::vector<BlockLoop> loops;
  Scalar position;
};

std::vector<Scalar> variables_of(const BlockPlaces& places) {
  std::vector<Scalar> variables;
  for (const BlockLoop& loop : places.loops) variables.push_back(use(loop.var));
  return variables;
}

std::string panel_name(const Scalar& factor, const std::string& side) {
  const auto* loaded = factor.as<Load>();
  return loaded ? loaded->buffer->name() : side;
}

// That place of a block's axis (the cut one is first) stands for it.
void stand_in_block(ScalarMap& values, const BlockText& text, const Blocked& blocks, const Scalar& round,
                    std::size_t axis, const Scalar& place) {
  let_stand_for(values, axis == 0 ? blocks.cut : blocks.inside[axis - 1],
                axis == 0 ? text.iteration(blocks, round, place) : place);
}

// Lets the digits of `term` stand for the axes of a part from that one on (the cut one is first), and tells
// how many terms these have.
std::int64_t joined_terms(ScalarMap& values, const BlockText& text, const Blocked& summed,
                          const Scalar& round, std::size_t first, const Scalar& term) {
  std::int64_t all = 1;
  for (std::size_t i = summed.inside.size() + 1; i-- > first;) {
    const std::int64_t extent = i == 0 ? summed.chunk : summed.spans[i - 1];
    const Scalar above = all > 1 ? floor_div(term, text.number(all)) : term;
    stand_in_block(values, text, summed, round, i,
                   i == first ? above : floor_mod(above, text.number(extent)));
    all *= extent;
  }
  return all;
}

class ContractionWriter : private BlockText {
 public:
  ContractionWriter(const Contraction& contraction, const Target& target)
      : BlockText(contraction.nest->axes.front().loop->var.dtype(), contraction.nest->store_stmt->span),
        contraction_(contraction),
        shapes_(shapes_of(contraction, target)),
        dtype_(contraction.nest->store->buffer.dtype()) {}

  Stmt write() {
    for (const Axis* axis : contraction_.around) open(axis);
    const std::size_t around = loops_.size();
    for (const Blocked* blocks : {&shapes_.rows, &shapes_.columns})
      for (const Axis* axis : blocks->around) open(axis);
    row_round_ = open_rounds(shapes_.rows);
    column_round_ = open_rounds(shapes_.columns);
    const std::size_t outside = loops_.size();

    if (shapes_.in_windows())
      windows_ = WindowPanel(*this, panel_name(contraction_.right, "right"), dtype_, contraction_.windows,
                             shapes_.columns, shapes_.summed, shapes_.tile, shapes_.segment);
    else if (!shapes_.direct)
      right_ = Panel(*this, panel_name(contraction_.right, "right"), dtype_, shapes_.right, shapes_.columns,
                     shapes_.summed, shapes_.tile.columns(), shapes_.tile.lanes, shapes_.right_once);
    if (shapes_.left_in_windows())
      left_windows_ =
          MeetingPanel(*this, panel_name(contraction_.left, "left"), dtype_, contraction_, shapes_);
    else if (!shapes_.left_direct)
      left_ = Panel(*this, panel_name(contraction_.left, "left"), dtype_, shapes_.left, shapes_.rows,
                    shapes_.summed, shapes_.tile.rows, shapes_.tile.lanes, shapes_.left_once);
    sums_ = Buffer("sums", dtype_, {number(shapes_.rows_in_tiles()), number(shapes_.columns_in_tiles())});

    for (const Axis* axis : shapes_.summed.around) open(axis);
    summed_round_ = open_rounds(shapes_.summed);
    joins_ = !shapes_.summed.whole();
    std::vector<Stmt> part;
    if (!shapes_.direct && !shapes_.right_once) part.push_back(copied_right());
    if (!shapes_.left_direct && !shapes_.left_once) part.push_back(copied_left());
    part.push_back(tiles());
    Stmt body = close(seq(std::move(part), span()), outside);

    std::vector<Stmt> block;
    if (shapes_.in_windows()) block.push_back(cleared_panel(*this, windows_.buffer()));
    if (joins_) block.push_back(cleared());
    block.push_back(body);
    if (contraction_.guard.defined()) block.push_back(mended());
    if (!shapes_.stores_tiles) block.push_back(stored());
    BlockStmt whole;
    whole.name = "contraction";
    if (!shapes_.left_direct && !shapes_.left_once)
      whole.allocations.push_back(shapes_.left_in_windows() ? left_windows_.buffer() : left_.buffer());
    if (!shapes_.direct && !shapes_.right_once)
      whole.allocations.push_back(shapes_.in_windows() ? windows_.buffer() : right_.buffer());
    if (!shapes_.stores_tiles) whole.allocations.push_back(sums_);
    whole.body = seq(std::move(block), span());
    const Stmt blocks = close(make_stmt(std::move(whole), span()), around);
    return close(shapes_.left_once || shapes_.right_once ? behind_panels(blocks) : blocks, 0);
  }

 private:
  // A loop over a whole axis, around all that follows.
  void open(const Axis* axis) {
    const ScalarVar var = variable(axis->loop->var.name());
    loops_.push_back({var, axis->loop->extent});
    let_stand_for(values_, axis, use(var));
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
  // The statement in the loops that were opened since there were so many.
  Stmt close(Stmt body, std::size_t outside) {
    const std::vector<BlockLoop> own(loops_.begin() + static_cast<std::ptrdiff_t>(outside), loops_.end());
    loops_.resize(outside);
    return in_loops(own, std::move(body));
  }

  BlockPlaces places(const Blocked& blocks, const Scalar& round) {
    const ScalarVar cut = variable(blocks.cut->loop->var.name() + (round.defined() ? "_1" : ""));
    BlockPlaces result{{{cut, length(blocks, round)}}, use(cut)};
    let_stand_for(values_, blocks.cut, iteration(blocks, round, use(cut)));
    for (std::size_t i = 0; i < blocks.inside.size(); ++i) {
      const Axis* axis = blocks.inside[i];
      const ScalarVar var = variable(axis->loop->var.name());
      let_stand_for(values_, axis, use(var));
      result.loops.push_back({var, axis->loop->extent});
      result.position = result.position * number(blocks.spans[i]) + use(var);
    }
    return result;
  }

  Stmt copied_right() {
    if (shapes_.in_windows()) return copied_windows();
    const bool along_terms = moves_along(contraction_.right, contraction_.summed.back()) &&
                             !moves_along(contraction_.right, contraction_.columns.back());
    const TurnedPart turned{right_,        contraction_.right, shapes_.columns,    shapes_.summed,
                            column_round_, summed_round_,      shapes_.tile.lanes, values_};
    if (along_terms && turns_in_squares(turned)) return turned_copy(turned, *this);
    return copied(right_, contraction_.right, shapes_.columns, column_round_, along_terms);
  }
  Stmt copied_left() {
    if (shapes_.left_in_windows()) return copied_meetings();
    return copied(left_, contraction_.left, shapes_.rows, row_round_, runs_by_rows(contraction_));
  }
  // One loop over the last axes of a part whose terms lie side by side in the factor, where they are more
  // than one.
  BlockPlaces terms_as_one(const Scalar& factor, BlockPlaces apart) {
    const Blocked& summed = shapes_.summed;
    if (!factor.as<Load>() || summed.inside.empty()) return apart;
    const ScalarMap before = values_;
    const bool whole_chunks = apart.loops.front().extent.as_int() == summed.chunk;
    for (std::size_t first = whole_chunks ? 0 : 1; first < summed.inside.size(); ++first) {
      const ScalarVar term = variable("term");
      const std::int64_t size = joined_terms(values_, *this, summed, summed_round_, first, use(term));
      const Scalar read = substitute(factor, values_);
      const auto place = counted_place(*read.as<Load>()->buffer, read.as<Load>()->indices);
      if (place &&
          prove_equal(substitute(*place, {{term.id(), use(term) + number(1)}}), *place + number(1))) {
        BlockPlaces joined{{apart.loops.begin(), apart.loops.begin() + static_cast<std::ptrdiff_t>(first)},
                           {}};
        for (std::size_t i = 0; i < first; ++i) {
          const Scalar along = use(joined.loops[i].var);
          joined.position = i == 0 ? along : joined.position * number(summed.spans[i - 1]) + along;
        }
        joined.position = first == 0 ? use(term) : joined.position * number(size) + use(term);
        joined.loops.push_back({term, number(size)});
        return joined;
      }
      values_ = before;
    }
    return apart;
  }
  // The copy runs along memory in what it reads.
  Stmt copied(const Panel& panel, const Scalar& factor, const Blocked& blocks, const Scalar& round,
              bool along_terms) {
    BlockPlaces sum = places(shapes_.summed, summed_round_);
    if (panel.order() == PanelOrder::ByElement || along_terms) sum = terms_as_one(factor, std::move(sum));
    BlockPlaces element;
    BlockPlace place;
    Scalar behind;
    const std::int64_t size = panel.in_tile(), all = rounds_of(blocks.size(), size);
    // Behind the last element that one is copied again: so all of the panel is written, in loops of fixed
    // lengths. Where elements lie side by side the copy ends with them instead.
    const auto stands_at = [&](const Scalar& at) {
      const Scalar found = iteration(blocks, round, at);
      let_stand_for(values_, blocks.cut,
                    blocks.even_in_tiles(size) ? found : min(found, number(extent_of(blocks.cut) - 1)));
    };
    const bool repeats = along_terms && blocks.known() && blocks.inside.empty();
    if (panel.order() == PanelOrder::ByTile) {
      const ScalarVar tile = variable("tile"), inside = variable("inside");
      const Scalar elements = repeats ? number(size) : elements_of_tile(blocks, round, use(tile), size);
      const auto* loaded = factor.as<Load>();
      const bool as_vector = !along_terms && loaded && loaded->buffer->dtype() == dtype_ && elements.as_int();
      element.loops = {{tile, repeats ? number(all) : tiles_with_elements(blocks, round, size)},
                       {inside, elements, as_vector ? LoopKind::Vectorized : LoopKind::Serial}};
      place = {{}, use(tile), use(inside)};
      const Scalar at = use(tile) * number(size) + use(inside);
      if (repeats)
        stands_at(at);
      else
        let_stand_for(values_, blocks.cut, iteration(blocks, round, at));
    } else if (repeats && !blocks.even_in_tiles(size)) {
      const ScalarVar row = variable(blocks.cut->loop->var.name());
      element.loops = {{row, number(all * size)}};
      place = {use(row), {}, {}};
      stands_at(use(row));
    } else if (along_terms && !blocks.known() && blocks.inside.empty()) {
      // Of a number that only the run knows whole tiles too, with zeros behind the last.
      const ScalarVar row = variable(blocks.cut->loop->var.name());
      element.loops = {{row, in_tiles(tiles_in(blocks, round, size), size)}};
      place = {use(row), {}, {}};
      let_stand_for(values_, blocks.cut, iteration(blocks, round, use(row)));
      behind = use(row) < length(blocks, round);
    } else {
      element = places(blocks, round);
      place = {element.position, {}, {}};
    }
    const Scalar read = substitute(factor, values_);
    std::vector<BlockLoop> loops = along_terms ? element.loops : sum.loops;
    const std::vector<BlockLoop>& inner = along_terms ? sum.loops : element.loops;
    loops.insert(loops.end(), inner.begin(), inner.end());
    return in_loops(loops,
                    make_stmt(Store{panel.buffer(), panel.at(round, summed_round_, sum.position, place),
                                    behind.defined() ? if_then_else(behind, read, zero(read.dtype())) : read},
                              span()));
  }
  // Every place that columns of the block and terms of the part see, in the order of the panel. Padding is
  // written once, before all parts.
  Stmt copied_windows() {
    const BlockPlaces sum = places(shapes_.summed, summed_round_);
    std::vector<BlockLoop> outside;
    std::vector<PlaceBounds> all;
    for (std::size_t i = 0; i < sum.loops.size(); ++i)
      if (!windows_.shifts(i)) outside.push_back(sum.loops[i]);
    for (std::size_t i = 0; i < contraction_.windows.size(); ++i) {
      const WindowAxis& window = contraction_.windows[i];
      all.push_back({variable(window.column->loop->var.name() + "_place"), 0,
                     window.places(i == 0 ? shapes_.columns.chunk : extent_of(window.column))});
      const Scalar place = use(all.back().var);
      const Scalar at = window.first() > 0 ? place - number(window.first()) : place;
      const Scalar column = window.step == 1 ? at : number(0);
      let_stand_for(values_, window.column,
                    i == 0 ? iteration(shapes_.columns, column_round_, column) : column);
      if (window.term) let_stand_for(values_, window.term, window.step == 1 ? number(0) : at);
    }
    return copied_places(*this, windows_, std::move(outside), variables_of(sum), all,
                         without_zeros(substitute(contraction_.right, values_)));
  }
  // The same of places where rows and terms meet.
  Stmt copied_meetings() {
    std::vector<BlockLoop> loops;
    std::vector<Scalar> places_of_windows;
    for (const MeetingPanel::Dimension& dimension : left_windows_.dimensions()) {
      const ScalarVar place = variable(dimension.axis()->loop->var.name() + "_place");
      loops.push_back({place, number(dimension.all)});
      places_of_windows.push_back(use(place));
      Scalar at = dimension.all > dimension.seen ? floor_mod(use(place), number(dimension.seen)) : use(place);
      if (const std::int64_t first = dimension.meeting.first(dimension.terms); first > 0)
        at = at - number(first);
      const bool by_row = dimension.row != none && dimension.meeting.row_step == 1;
      const Scalar term = dimension.meeting.term_step < 0 ? number(0) - at : at;
      if (dimension.row != none)
        stand_in_block(values_, *this, shapes_.rows, row_round_, dimension.row, by_row ? at : number(0));
      if (dimension.term != none)
        stand_in_block(values_, *this, shapes_.summed, summed_round_, dimension.term,
                       by_row ? number(0) : term);
    }
    return in_loops(loops, make_stmt(Store{left_windows_.buffer(), std::move(places_of_windows),
                                           without_zeros(substitute(contraction_.left, values_))},
                                     span()));
  }
  // Where a column of the block and a term of the part are in the panel of the right factor.
  std::vector<Scalar> in_right(const Scalar& term, const BlockPlace& column) const {
    return right_.at(column_round_, summed_round_, term, column);
  }

  // What of both factors is copied once, in its panels, then the blocks.
  Stmt behind_panels(const Stmt& blocks) {
    const std::size_t outside = loops_.size();
    BlockStmt whole;
    whole.name = "panels";
    std::vector<Stmt> body;
    if (shapes_.left_once) {
      whole.allocations.push_back(left_.buffer());
      row_round_ = open_rounds(shapes_.rows);
      summed_round_ = open_rounds(shapes_.summed);
      body.push_back(close(copied_left(), outside));
    }
    if (shapes_.right_once) {
      whole.allocations.push_back(right_.buffer());
      column_round_ = open_rounds(shapes_.columns);
      summed_round_ = open_rounds(shapes_.summed);
      body.push_back(close(copied_right(), outside));
    }
    body.push_back(blocks);
    whole.body = seq(std::move(body), span());
    return make_stmt(std::move(whole), span());
  }
  Stmt cleared() const {
    const ScalarVar row = variable("row"), column = variable("column");
    return in_loops(
        {{row, shapes_.left_in_windows()
                   ? number(shapes_.rows_in_tiles())
                   : in_tiles(tiles_in(shapes_.rows, row_round_, shapes_.tile.rows), shapes_.tile.rows)},
         {column, in_tiles(tiles_in(shapes_.columns, column_round_, shapes_.tile.columns()),
                           shapes_.tile.columns())}},
        make_stmt(Store{sums_, {use(row), use(column)}, zero(dtype_)}, span()));
  }

  // A statement for every element of a tile, by its row and its column there.
  template <class Make>
  Stmt each_of_tile(const RowTiles& tiles, const Make& make) const {
    std::vector<BlockLoop> loops;
    const TileRow row = tiles.row(loops);
    const ScalarVar vector = variable("vector"), lane = variable("lane");
    Scalar column = use(lane);
    if (shapes_.tile.vectors > 1) {
      loops.push_back({vector, number(shapes_.tile.vectors), LoopKind::Unrolled});
      column = use(vector) * number(shapes_.tile.lanes) + use(lane);
    }
    loops.push_back({lane, number(shapes_.tile.lanes), LoopKind::Vectorized});
    return in_loops(loops, make(row, column));
  }

  // The terms of a part: one loop, where both factors have them side by side.
  BlockPlaces terms_of_part() {
    if (shapes_.in_windows() || shapes_.left_in_windows()) return places(shapes_.summed, summed_round_);
    const ScalarVar term = variable("term");
    return {{{term, elements_in(shapes_.summed, summed_round_)}}, use(term)};
  }

  // A factor where it is, at a term of the part and an element of the block; behind the last element that
  // one.
  Scalar in_place(const Scalar& factor, const Scalar& term, const Blocked& blocks, const Scalar& round,
                  const Scalar& element, std::int64_t in_tile) const {
    ScalarMap values = values_;
    if (!shapes_.in_windows()) joined_terms(values, *this, shapes_.summed, summed_round_, 0, term);
    const Scalar found = iteration(blocks, round, element);
    let_stand_for(values, blocks.cut,
                  blocks.in_whole_tiles(in_tile) ? found : min(found, number(extent_of(blocks.cut) - 1)));
    return substitute(factor, values);
  }

  Stmt tiles() {
    const Buffer tile("tile", dtype_, {number(shapes_.tile.rows), number(shapes_.tile.columns())}, "local");
    const ScalarVar column_tile = variable("column_tile");
    const RowTiles rows(*this, shapes_, row_round_);
    const BlockPlaces sum = terms_of_part();
    const auto in_columns = [&](const Scalar& column) {
      return use(column_tile) * number(shapes_.tile.columns()) + column;
    };
    std::vector<Stmt> body;
    body.push_back(each_of_tile(rows, [&](const TileRow& row, const Scalar& column) {
      return make_stmt(Store{tile, {row.in_tile, column}, zero(dtype_)}, span());
    }));
    const Stmt products = each_of_tile(rows, [&](const TileRow& row, const Scalar& column) {
      const Scalar left =
          shapes_.left_in_windows()
              ? load(left_windows_.buffer(), left_windows_.at(*this, row.places, variables_of(sum)))
          : shapes_.left_direct ? in_place(contraction_.left, sum.position, shapes_.rows, row_round_,
                                           row.in_block, shapes_.tile.rows)
                                : load(left_.buffer(), left_.at(row_round_, summed_round_, sum.position,
                                                                {row.in_block, rows.tile(), row.in_tile}));
      const Scalar right =
          shapes_.in_windows()
              ? load(windows_.buffer(), windows_.at(*this, variables_of(sum), use(column_tile), column))
          : shapes_.direct
              ? in_place(contraction_.right, sum.position, shapes_.columns, column_round_, in_columns(column),
                         shapes_.tile.columns())
              : load(right_.buffer(), in_right(sum.position, {in_columns(column), use(column_tile), column}));
      return make_stmt(Store{tile, {row.in_tile, column}, load(tile, {row.in_tile, column}) + left * right},
                       span());
    });
    body.push_back(in_loops(sum.loops, products));
    body.push_back(each_of_tile(rows, [&](const TileRow& row, const Scalar& column) {
      const std::vector<Scalar> at{row.in_block, in_columns(column)};
      const Scalar sum = load(tile, {row.in_tile, column});
      if (shapes_.stores_tiles) return stored_at(at[0], at[1], sum);
      return make_stmt(Store{sums_, at, joins_ ? load(sums_, at) + sum : sum}, span());
    }));
    BlockStmt block;
    block.name = "tile";
    block.allocations = {tile};
    block.body = seq(std::move(body), span());
    std::vector<BlockLoop> tiles{
        {column_tile, tiles_with_elements(shapes_.columns, column_round_, shapes_.tile.columns())}};
    tiles.insert(tiles.end(), rows.loops().begin(), rows.loops().end());
    return in_loops(tiles, make_stmt(std::move(block), span()));
  }

  // Adds up 0 times the value in `finite`, which stays 0 when all of it is finite. Each round of the loops
  // outside has a sum of its own.
  Stmt look(const Buffer& finite, const std::vector<BlockLoop>& outside, const std::vector<BlockLoop>& inside,
            const Scalar& value) const {
    const Buffer row("finite_row", dtype_, {}, "local");
    const Stmt add = make_stmt(Store{row, {}, load(row, {}) + value * float_literal(dtype_, 0)}, span());
    BlockStmt block;
    block.name = "look";
    block.allocations = {row};
    block.body = seq({make_stmt(Store{row, {}, zero(dtype_)}, span()), in_loops(inside, add),
                      make_stmt(Store{finite, {}, load(finite, {}) + load(row, {})}, span())},
                     span());
    return seq({make_stmt(Store{finite, {}, zero(dtype_)}, span()),
                in_loops(outside, make_stmt(std::move(block), span()))},
               span());
  }
  // Loops over all terms: one, where they lie side by side in the factor.
  std::vector<BlockLoop> all_terms(const Scalar& factor) {
    std::vector<BlockLoop> loops;
    const auto* loaded = factor.as<Load>();
    if (loaded && shapes_.summed.known() && ends_with(*loaded, contraction_.summed)) {
      const ScalarVar term = variable("term");
      std::int64_t all = 1;
      for (std::size_t i = contraction_.summed.size(); i-- > 0;) {
        const Axis* axis = contraction_.summed[i];
        const Scalar above = all > 1 ? floor_div(use(term), number(all)) : use(term);
        let_stand_for(values_, axis, i == 0 ? above : floor_mod(above, number(extent_of(axis))));
        all *= extent_of(axis);
      }
      return {{term, number(all)}};
    }
    for (const Axis* axis : contraction_.summed) {
      const ScalarVar var = variable(axis->loop->var.name());
      loops.push_back({var, axis->loop->extent});
      let_stand_for(values_, axis, use(var));
    }
    return loops;
  }
  // A product of the 0 that stands where the guard does not hold is 0, but for infinities and what is no
  // number. These show in the block's sums: where the factor without a guard has some, the products are
  // summed as they were written. A factor that is smaller than the sums is looked at at once.
  Stmt mended() {
    const Buffer finite("finite", dtype_, {}, "local");
    const bool right = contraction_.guards_left;
    const Scalar& factor = right ? contraction_.right : contraction_.left;
    const BlockPlaces elements =
        right ? places(shapes_.columns, column_round_) : places(shapes_.rows, row_round_);
    const std::vector<BlockLoop> terms = all_terms(factor);
    const Stmt factor_looked = look(finite, elements.loops, terms, substitute(factor, values_));
    const BlockPlaces rows = places(shapes_.rows, row_round_),
                      columns = places(shapes_.columns, column_round_);
    const std::vector<BlockLoop> all = all_terms({});
    const std::vector<Scalar> at{rows.position, columns.position};
    const Stmt add =
        make_stmt(Store{sums_, at, load(sums_, at) + substitute(contraction_.product, values_)}, span());
    const Stmt guarded = make_stmt(IfStmt{substitute(contraction_.guard, values_), add, {}}, span());
    const auto unless_finite = [&](const Stmt& body) {
      return make_stmt(IfStmt{compare(CompareOp::Ne, load(finite, {}), zero(dtype_)), body, {}}, span());
    };
    Stmt body = seq(
        {factor_looked,
         unless_finite(seq({cleared(), in_loops(rows.loops, in_loops(columns.loops, in_loops(all, guarded)))},
                           span()))},
        span());
    if (!shapes_.small_beside_sums(contraction_.summed, right)) {
      const ScalarVar row = variable("row"), column = variable("column");
      const Stmt sums_looked =
          look(finite, {{row, elements_in(shapes_.rows, row_round_)}},
               {{column, elements_in(shapes_.columns, column_round_)}}, load(sums_, {use(row), use(column)}));
      body = seq({sums_looked, unless_finite(body)}, span());
    }
    BlockStmt block;
    block.name = "guarded";
    block.allocations = {finite};
    block.body = body;
    return make_stmt(std::move(block), span());
  }

  // The sum as the result's element of that row and column of the block, both of which have one axis inside.
  Stmt stored_at(const Scalar& row, const Scalar& column, const Scalar& sum) const {
    ScalarMap values = values_;
    let_stand_for(values, shapes_.rows.cut, iteration(shapes_.rows, row_round_, row));
    let_stand_for(values, shapes_.columns.cut, iteration(shapes_.columns, column_round_, column));
    return joined(values, sum);
  }
  // The sum joined to what the element begins with.
  Stmt joined(const ScalarMap& values, const Scalar& sum) const {
    const Store& store = *contraction_.nest->store;
    std::vector<Scalar> at;
    for (const Scalar& index : store.indices) at.push_back(substitute(index, values));
    const Scalar first =
        contraction_.init ? substitute(contraction_.init->value, values) : load(store.buffer, at);
    const auto* literal = first.as<FloatLiteral>();
    const Scalar value = literal && literal->value == 0 ? sum : first + sum;
    return make_stmt(Store{store.buffer, std::move(at), value}, span());
  }

  // Sums of a left factor by windows are turned first, so that what stores them runs along its rows.
  Stmt stored() {
    const BlockPlaces row = places(shapes_.rows, row_round_), column = places(shapes_.columns, column_round_);
    const bool turns = shapes_.left_in_windows();
    if (contraction_.items_last) return stored_by_items(row, column);
    std::vector<BlockLoop> loops = turns ? column.loops : row.loops;
    const std::vector<BlockLoop>& inner = turns ? row.loops : column.loops;
    loops.insert(loops.end(), inner.begin(), inner.end());
    if (!turns) return in_loops(loops, joined(values_, load(sums_, {row.position, column.position})));
    const Buffer turned("turned", dtype_, {sums_.shape()[1], sums_.shape()[0]});
    const ScalarVar each_row = variable("row"), each_column = variable("column");
    const Stmt turn = in_loops(
        {{each_column, sums_.shape()[1]}, {each_row, sums_.shape()[0]}},
        make_stmt(
            Store{turned, {use(each_column), use(each_row)}, load(sums_, {use(each_row), use(each_column)})},
            span()));
    BlockStmt block;
    block.name = "turned";
    block.allocations = {turned};
    block.body =
        seq({turn, in_loops(loops, joined(values_, load(turned, {column.position, row.position})))}, span());
    return make_stmt(std::move(block), span());
  }

  // The same of columns whose last axis is the first of the result. The places of an item are one loop: they
  // lie side by side where the result has no other axis between them.
  Stmt stored_by_items(const BlockPlaces& row, const BlockPlaces& column) const {
    const BlockLoop& item = column.loops.back();
    const std::int64_t places = shapes_.columns.size() / extent_of(contraction_.columns.back());
    const Buffer turned("turned", dtype_, {sums_.shape()[0], item.extent, number(places)});
    const ScalarVar place = variable("place");
    ScalarMap values = values_;
    Scalar above = use(place);
    for (std::size_t i = shapes_.columns.inside.size() - 1; i-- > 0;) {
      const Scalar extent = number(shapes_.columns.spans[i]);
      let_stand_for(values, shapes_.columns.inside[i], floor_mod(above, extent));
      above = floor_div(above, extent);
    }
    let_stand_for(values, shapes_.columns.cut, iteration(shapes_.columns, column_round_, above));
    std::vector<BlockLoop> loops = row.loops;
    loops.push_back(item);
    loops.push_back({place, number(places)});
    BlockStmt block;
    block.name = "turned";
    block.allocations = {turned};
    block.body =
        seq({turned_items(*this, turned, sums_),
             in_loops(loops, joined(values, load(turned, {row.position, use(item.var), use(place)})))},
            span());
    return make_stmt(std::move(block), span());
  }

  const Contraction& contraction_;
  const ContractionShapes shapes_;
  const DType dtype_;
  std::vector<BlockLoop> loops_;
  ScalarMap values_;  // of the axes, at the point that is being written
  Scalar row_round_, column_round_, summed_round_;
  Panel left_, right_;
  WindowPanel windows_;
  MeetingPanel left_windows_;
  Buffer sums_;
  bool joins_ = false;  // a tile is one part of a sum
};

}  // namespace

Stmt blocks_of(const Contraction& contraction, const Target& target) {
  return ContractionWriter(contraction, target).write();
}

}  // namespace relish

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

#include "schedule/block_text.h"
#include "schedule/contraction_shapes.h"

namespace relish {
namespace {

// Places in a block: loops over its axes, and where among all elements of the block they are.
struct BlockPlaces {
  std::vector<BlockLoop> loops;
  Scalar position;
};

void let_stand_for(ScalarMap& values, const Axis* axis, const Scalar& value) {
  values.insert_or_assign(axis->var.id(), value);
  values.insert_or_assign(axis->loop->var.id(), value);
}

// Whether the factor runs along memory with that axis.
bool moves_along(const Scalar& factor, const Axis* axis) {
  const auto* loaded = factor.as<Load>();
  if (!loaded || loaded->indices.empty()) return true;
  std::vector<ScalarVar> vars;
  collect_vars(loaded->indices.back(), vars);
  return std::any_of(vars.begin(), vars.end(),
                     [&](const ScalarVar& var) { return var == axis->var || var == axis->loop->var; });
}

// Whether the factor that no guard stands at is at hand as a whole before the blocks.
bool looks_once(const Contraction& contraction, const ContractionShapes& shapes) {
  return contraction.guard.defined() && (contraction.guards_left ? shapes.right_once : shapes.left_once);
}

class ContractionWriter : private BlockText {
 public:
  ContractionWriter(const Contraction& contraction, const Target& target)
      : BlockText(contraction.nest.axes.front().loop->var.dtype(), contraction.nest.store_stmt->span),
        contraction_(contraction),
        shapes_(shapes_of(contraction, target)),
        dtype_(contraction.nest.store->buffer.dtype()) {}

  Stmt write() {
    for (const Axis* axis : contraction_.around) open(axis);
    const std::size_t around = loops_.size();
    for (const Blocked* blocks : {&shapes_.rows, &shapes_.columns})
      for (const Axis* axis : blocks->around) open(axis);
    row_round_ = open_rounds(shapes_.rows);
    column_round_ = open_rounds(shapes_.columns);
    const std::size_t outside = loops_.size();

    const std::int64_t rows = rounds_of(shapes_.rows.size(), shapes_.tile.rows) * shapes_.tile.rows;
    const std::int64_t columns =
        rounds_of(shapes_.columns.size(), shapes_.tile.columns()) * shapes_.tile.columns();
    columns_of_block_ = columns;
    if (!shapes_.direct) right_ = right_panel();
    by_rows_ = moves_along(contraction_.left, contraction_.summed.back());
    rows_of_block_ = rows;
    left_ = left_panel();
    sums_ = Buffer("sums", dtype_, {number(rows), number(columns)});
    finite_ = Buffer("finite", dtype_, {}, looks_once(contraction_, shapes_) ? "global" : "local");

    for (const Axis* axis : shapes_.summed.around) open(axis);
    summed_round_ = open_rounds(shapes_.summed);
    joins_ = !shapes_.summed.whole() || contraction_.guard.defined();
    std::vector<Stmt> part;
    if (!shapes_.direct && !shapes_.right_once) part.push_back(copied_right());
    if (!shapes_.left_once) part.push_back(copied_left());
    const Stmt products = tiles();
    part.push_back(contraction_.guard.defined() ? where_finite(products) : products);
    Stmt body = close(seq(std::move(part), span()), outside);

    std::vector<Stmt> block;
    if (joins_) block.push_back(cleared());
    block.push_back(body);
    if (!shapes_.stores_tiles) block.push_back(stored());
    BlockStmt whole;
    whole.name = "contraction";
    if (!shapes_.left_once) whole.allocations.push_back(left_);
    if (!shapes_.direct && !shapes_.right_once) whole.allocations.push_back(right_);
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
    for (const Axis* axis : blocks.inside) {
      const ScalarVar var = variable(axis->loop->var.name());
      let_stand_for(values_, axis, use(var));
      result.loops.push_back({var, axis->loop->extent});
      result.position = result.position * axis->loop->extent + use(var);
    }
    return result;
  }

  Buffer panel(const Scalar& factor, const std::string& side, std::int64_t first, std::int64_t second) const {
    const auto* loaded = factor.as<Load>();
    return {(loaded ? loaded->buffer->name() : side) + "_panel", dtype_, {number(first), number(second)}};
  }
  // The copy runs along memory in what it reads.
  Stmt copied_right() {
    const BlockPlaces sum = places(shapes_.summed, summed_round_),
                      column = places(shapes_.columns, column_round_);
    const bool along_sum = moves_along(contraction_.right, contraction_.summed.back()) &&
                           !moves_along(contraction_.right, contraction_.columns.back());
    return copy(right_, contraction_.right, in_right(sum.position, column.position), along_sum ? column : sum,
                along_sum ? sum : column);
  }
  Stmt copied_left() {
    const BlockPlaces sum = places(shapes_.summed, summed_round_), row = places(shapes_.rows, row_round_);
    return copy(left_, contraction_.left, in_left(row.position, sum.position), by_rows_ ? row : sum,
                by_rows_ ? sum : row);
  }

  // The panel of one part of the block's rows, or of all parts of all rows. There too rows of one vector more
  // than they need do not all fall into the same lines of a cache.
  Buffer left_panel() const {
    const std::int64_t terms = shapes_.summed.size();
    if (!shapes_.left_once)
      return by_rows_ ? panel(contraction_.left, "left", rows_of_block_, terms)
                      : panel(contraction_.left, "left", terms, rows_of_block_);
    const std::int64_t all_rows = shapes_.rows.rounds() * rows_of_block_;
    const std::int64_t all_terms = shapes_.summed.rounds() * terms;
    return by_rows_ ? panel(contraction_.left, "left", all_rows, all_terms + shapes_.tile.lanes)
                    : panel(contraction_.left, "left", all_terms, all_rows + shapes_.tile.lanes);
  }
  // Where a row of the block and a term of the part are in it.
  std::vector<Scalar> in_left(Scalar row, Scalar term) const {
    if (shapes_.left_once && row_round_.defined()) row = row_round_ * number(rows_of_block_) + row;
    if (shapes_.left_once && summed_round_.defined())
      term = summed_round_ * number(shapes_.summed.size()) + term;
    return by_rows_ ? std::vector<Scalar>{row, term} : std::vector<Scalar>{term, row};
  }
  // The same of the right factor, block by block of columns.
  Buffer right_panel() const {
    const std::int64_t parts = shapes_.right_once ? shapes_.columns.rounds() * shapes_.summed.rounds() : 1;
    return panel(contraction_.right, "right", parts * shapes_.summed.size(),
                 columns_of_block_ + shapes_.tile.lanes);
  }
  std::vector<Scalar> in_right(Scalar term, const Scalar& column) const {
    if (shapes_.right_once && summed_round_.defined())
      term = summed_round_ * number(shapes_.summed.size()) + term;
    if (shapes_.right_once && column_round_.defined())
      term = column_round_ * number(shapes_.summed.rounds() * shapes_.summed.size()) + term;
    return {term, column};
  }

  // What of both factors is copied once, in its panels, then the blocks.
  Stmt behind_panels(const Stmt& blocks) {
    const std::size_t outside = loops_.size();
    BlockStmt whole;
    whole.name = "panels";
    std::vector<Stmt> body;
    if (shapes_.left_once) {
      whole.allocations.push_back(left_);
      if (by_rows_) row_round_ = open_rounds(shapes_.rows);
      summed_round_ = open_rounds(shapes_.summed);
      if (!by_rows_) row_round_ = open_rounds(shapes_.rows);
      body.push_back(close(copied_left(), outside));
    }
    if (shapes_.right_once) {
      whole.allocations.push_back(right_);
      column_round_ = open_rounds(shapes_.columns);
      summed_round_ = open_rounds(shapes_.summed);
      body.push_back(close(copied_right(), outside));
    }
    if (looks_once(contraction_, shapes_)) {
      whole.allocations.push_back(finite_);
      body.push_back(make_stmt(Store{finite_, {}, zero(dtype_)}, span()));
      (contraction_.guards_left ? column_round_ : row_round_) =
          open_rounds(contraction_.guards_left ? shapes_.columns : shapes_.rows);
      summed_round_ = {};
      body.push_back(close(
          look({variable("term"), number(extent_of(shapes_.summed.cut) * shapes_.summed.inner)}), outside));
    }
    body.push_back(blocks);
    whole.body = seq(std::move(body), span());
    return make_stmt(std::move(whole), span());
  }
  Stmt copy(const Buffer& into, const Scalar& factor, std::vector<Scalar> at, const BlockPlaces& outer,
            const BlockPlaces& inner) const {
    std::vector<BlockLoop> loops = outer.loops;
    loops.insert(loops.end(), inner.loops.begin(), inner.loops.end());
    return in_loops(loops, make_stmt(Store{into, std::move(at), substitute(factor, values_)}, span()));
  }

  Stmt cleared() const {
    const ScalarVar row = variable("row"), column = variable("column");
    return in_loops(
        {{row, in_tiles(tiles_in(shapes_.rows, row_round_, shapes_.tile.rows), shapes_.tile.rows)},
         {column, in_tiles(tiles_in(shapes_.columns, column_round_, shapes_.tile.columns()),
                           shapes_.tile.columns())}},
        make_stmt(Store{sums_, {use(row), use(column)}, zero(dtype_)}, span()));
  }

  // A statement for every element of a tile, by its row and column there.
  template <class Make>
  Stmt each_of_tile(const Make& make) const {
    const ScalarVar row = variable("row"), vector = variable("vector"), lane = variable("lane");
    std::vector<BlockLoop> loops{{row, number(shapes_.tile.rows), LoopKind::Unrolled}};
    Scalar column = use(lane);
    if (shapes_.tile.vectors > 1) {
      loops.push_back({vector, number(shapes_.tile.vectors), LoopKind::Unrolled});
      column = use(vector) * number(shapes_.tile.lanes) + use(lane);
    }
    loops.push_back({lane, number(shapes_.tile.lanes), LoopKind::Vectorized});
    return in_loops(loops, make(use(row), column));
  }

  // The right factor where it is, at a term of the part and a column of the block.
  Scalar right_in_place(const Scalar& term, const Scalar& column) const {
    ScalarMap values = values_;
    let_stand_for(values, shapes_.summed.cut, iteration(shapes_.summed, summed_round_, term));
    let_stand_for(values, shapes_.columns.cut, iteration(shapes_.columns, column_round_, column));
    return substitute(contraction_.right, values);
  }

  Stmt tiles() const {
    const Buffer tile("tile", dtype_, {number(shapes_.tile.rows), number(shapes_.tile.columns())}, "local");
    const ScalarVar row_tile = variable("row_tile"), column_tile = variable("column_tile"),
                    term = variable("term");
    const auto in_panel = [&](const Scalar& row) { return use(row_tile) * number(shapes_.tile.rows) + row; };
    const auto in_columns = [&](const Scalar& column) {
      return use(column_tile) * number(shapes_.tile.columns()) + column;
    };
    std::vector<Stmt> body;
    body.push_back(each_of_tile([&](const Scalar& row, const Scalar& column) {
      return make_stmt(Store{tile, {row, column}, zero(dtype_)}, span());
    }));
    const Stmt products = each_of_tile([&](const Scalar& row, const Scalar& column) {
      const Scalar left = load(left_, in_left(in_panel(row), use(term)));
      const Scalar right = shapes_.direct ? right_in_place(use(term), in_columns(column))
                                          : load(right_, in_right(use(term), in_columns(column)));
      return make_stmt(Store{tile, {row, column}, load(tile, {row, column}) + left * right}, span());
    });
    body.push_back(in_loops({{term, elements_in(shapes_.summed, summed_round_)}}, products));
    body.push_back(each_of_tile([&](const Scalar& row, const Scalar& column) {
      const std::vector<Scalar> at{in_panel(row), in_columns(column)};
      const Scalar sum = load(tile, {row, column});
      if (shapes_.stores_tiles) return stored_at(at[0], at[1], sum);
      return make_stmt(Store{sums_, at, joins_ ? load(sums_, at) + sum : sum}, span());
    }));
    BlockStmt block;
    block.name = "tile";
    block.allocations = {tile};
    block.body = seq(std::move(body), span());
    return in_loops({{column_tile, tiles_in(shapes_.columns, column_round_, shapes_.tile.columns())},
                     {row_tile, tiles_in(shapes_.rows, row_round_, shapes_.tile.rows)}},
                    make_stmt(std::move(block), span()));
  }

  // Adds up 0 times what the panel of the factor without a guard holds: 0 when all of it is finite. Each row
  // of memory has a sum of its own.
  Stmt look(const BlockLoop& term) const {
    const bool right = contraction_.guards_left;
    const BlockLoop other{
        variable(right ? "column" : "row"),
        right ? elements_in(shapes_.columns, column_round_) : elements_in(shapes_.rows, row_round_)};
    const Buffer row("finite_row", dtype_, {}, "local");
    const Scalar held = right ? load(right_, in_right(use(term.var), use(other.var)))
                              : load(left_, in_left(use(other.var), use(term.var)));
    const bool terms_outside = right || !by_rows_;
    const Stmt add = make_stmt(Store{row, {}, load(row, {}) + held * float_literal(dtype_, 0)}, span());
    BlockStmt block;
    block.name = "look";
    block.allocations = {row};
    block.body =
        seq({make_stmt(Store{row, {}, zero(dtype_)}, span()), in_loops({terms_outside ? other : term}, add),
             make_stmt(Store{finite_, {}, load(finite_, {}) + load(row, {})}, span())},
            span());
    return in_loops({terms_outside ? term : other}, make_stmt(std::move(block), span()));
  }
  // A product of the 0 that stands where the guard does not hold is 0, but for infinities and what is no
  // number: where the other factor has some, the products are summed as they were written.
  Stmt where_finite(const Stmt& products) {
    const BlockPlaces rows = places(shapes_.rows, row_round_),
                      columns = places(shapes_.columns, column_round_);
    const BlockPlaces terms = places(shapes_.summed, summed_round_);
    const std::vector<Scalar> at{rows.position, columns.position};
    const Stmt add =
        make_stmt(Store{sums_, at, load(sums_, at) + substitute(contraction_.product, values_)}, span());
    const Stmt guarded = make_stmt(IfStmt{substitute(contraction_.guard, values_), add, {}}, span());
    const Stmt as_written = in_loops(rows.loops, in_loops(columns.loops, in_loops(terms.loops, guarded)));
    const Stmt chosen =
        make_stmt(IfStmt{equal(load(finite_, {}), zero(dtype_)), products, as_written}, span());
    if (looks_once(contraction_, shapes_)) return chosen;

    const Stmt looked = look({variable("term"), elements_in(shapes_.summed, summed_round_)});
    BlockStmt block;
    block.name = "guarded";
    block.allocations = {finite_};
    block.body = seq({make_stmt(Store{finite_, {}, zero(dtype_)}, span()), looked, chosen}, span());
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
    const Store& store = *contraction_.nest.store;
    std::vector<Scalar> at;
    for (const Scalar& index : store.indices) at.push_back(substitute(index, values));
    const Scalar first =
        contraction_.init ? substitute(contraction_.init->value, values) : load(store.buffer, at);
    const auto* literal = first.as<FloatLiteral>();
    const Scalar value = literal && literal->value == 0 ? sum : first + sum;
    return make_stmt(Store{store.buffer, std::move(at), value}, span());
  }

  Stmt stored() {
    const BlockPlaces row = places(shapes_.rows, row_round_), column = places(shapes_.columns, column_round_);
    std::vector<BlockLoop> loops = row.loops;
    loops.insert(loops.end(), column.loops.begin(), column.loops.end());
    return in_loops(loops, joined(values_, load(sums_, {row.position, column.position})));
  }

  const Contraction& contraction_;
  const ContractionShapes shapes_;
  const DType dtype_;
  std::vector<BlockLoop> loops_;
  ScalarMap values_;  // of the axes, at the point that is being written
  Scalar row_round_, column_round_, summed_round_;
  std::int64_t rows_of_block_ = 0, columns_of_block_ = 0;  // in whole tiles
  Buffer left_, right_, sums_, finite_;
  bool joins_ = false;    // a tile is one part of a sum
  bool by_rows_ = false;  // the panel of the left factor is (row, summed)
};

}  // namespace

Stmt blocks_of(const Contraction& contraction, const Target& target) {
  return ContractionWriter(contraction, target).write();
}

}  // namespace relish

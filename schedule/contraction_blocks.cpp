// Blocks, panels and tiles of a contraction:
//
//   for every axis around, block of rows, block of columns:
//     for every part of at most 256 summed terms:
//       copy the part of `right` into a panel (summed, column), that of `left` into one (row, summed)
//       for every tile of rows x columns: sum the products in registers, join them to the block's sums
//     store the block's sums to the result
//
// Panels are as long as whole tiles. What lies behind the last row or column is computed and never read. Of
// an axis whose extent only the run knows, blocks are as large as they can be, and tiles behind its end are
// left out. Few rows (one tile or two) read `right` where it is when its rows are whole tiles long: a panel
// would be used once.
#include "schedule/contraction_blocks.h"

#include <algorithm>

#include "schedule/contraction_shapes.h"

namespace relish {
namespace {

struct BlockLoop {
  ScalarVar var;
  Scalar extent;
  LoopKind kind = LoopKind::Serial;
};
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

class ContractionWriter {
 public:
  ContractionWriter(const Contraction& contraction, const Target& target)
      : contraction_(contraction),
        shapes_(shapes_of(contraction, target)),
        index_(contraction.nest.axes.front().loop->var.dtype()),
        dtype_(contraction.nest.store->buffer.dtype()) {}

  Stmt write() {
    for (const Axis* axis : contraction_.around) open(axis);
    for (const Blocked* blocks : {&shapes_.rows, &shapes_.columns})
      for (const Axis* axis : blocks->around) open(axis);
    row_round_ = open_rounds(shapes_.rows);
    column_round_ = open_rounds(shapes_.columns);
    const std::size_t outside = loops_.size();

    const std::int64_t rows = rounds_of(shapes_.rows.size(), shapes_.tile.rows) * shapes_.tile.rows;
    const std::int64_t columns =
        rounds_of(shapes_.columns.size(), shapes_.tile.columns()) * shapes_.tile.columns();
    // One vector more than a row needs, so that rows do not all fall into the same lines of a cache.
    if (!shapes_.direct)
      right_ = panel(contraction_.right, "right", shapes_.summed.size(), columns + shapes_.tile.lanes);
    by_rows_ = moves_along(contraction_.left, contraction_.summed.back());
    left_ = by_rows_ ? panel(contraction_.left, "left", rows, shapes_.summed.size())
                     : panel(contraction_.left, "left", shapes_.summed.size(), rows);
    sums_ = Buffer("sums", dtype_, {number(rows), number(columns)});

    for (const Axis* axis : shapes_.summed.around) open(axis);
    summed_round_ = open_rounds(shapes_.summed);
    joins_ = !shapes_.summed.whole() || contraction_.guard.defined();
    std::vector<Stmt> part;
    if (!shapes_.direct) part.push_back(copied_right());
    part.push_back(copied_left());
    const Stmt products = tiles();
    part.push_back(contraction_.guard.defined() ? where_finite(products) : products);
    Stmt body = close(seq(std::move(part), span()), outside);

    std::vector<Stmt> block;
    if (joins_) block.push_back(cleared());
    block.push_back(body);
    block.push_back(stored());
    BlockStmt whole;
    whole.name = "contraction";
    whole.allocations = {left_, sums_};
    if (!shapes_.direct) whole.allocations.insert(whole.allocations.begin() + 1, right_);
    whole.body = seq(std::move(block), span());
    return close(make_stmt(std::move(whole), span()), 0);
  }

 private:
  Span span() const { return contraction_.nest.store_stmt->span; }
  Scalar number(std::int64_t value) const { return int_literal(index_, value); }
  ScalarVar variable(const std::string& name) const { return {name, index_, span()}; }

  Stmt in_loops(const std::vector<BlockLoop>& loops, Stmt body) const {
    for (std::size_t i = loops.size(); i-- > 0;)
      body = make_stmt(For{loops[i].var, number(0), loops[i].extent, loops[i].kind, body, {}}, span());
    return body;
  }

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

  // How many iterations of the cut axis are in the chunk of that round.
  Scalar length(const Blocked& blocks, const Scalar& round) const {
    const std::int64_t extent = extent_of(blocks.cut);
    if (!blocks.known())
      return min(number(blocks.chunk), blocks.cut->loop->extent - round * number(blocks.chunk));
    if (extent % blocks.chunk == 0) return number(blocks.chunk);
    return min(number(blocks.chunk), number(extent) - round * number(blocks.chunk));
  }
  // The same of all elements of the block, as one minimum, which range proofs see through.
  Scalar elements_in(const Blocked& blocks, const Scalar& round) const {
    if (blocks.inner == 1) return length(blocks, round);
    const Scalar done = round.defined() ? round * number(blocks.size()) : number(0);
    if (!blocks.known())
      return min(number(blocks.size()), blocks.cut->loop->extent * number(blocks.inner) - done);
    const std::int64_t extent = extent_of(blocks.cut);
    if (extent % blocks.chunk == 0) return number(blocks.size());
    return min(number(blocks.size()), number(extent * blocks.inner) - done);
  }
  // How many tiles of so many elements hold the block of that round: all, or where only the run knows the
  // extent, those that are not empty.
  Scalar tiles_in(const Blocked& blocks, const Scalar& round, std::int64_t elements) const {
    const std::int64_t all = rounds_of(blocks.size(), elements);
    if (blocks.known()) return number(all);
    const Scalar length = elements_in(blocks, round);
    return min(number(all), floor_div(length + number(elements - 1), number(elements)));
  }
  BlockPlaces places(const Blocked& blocks, const Scalar& round) {
    const ScalarVar cut = variable(blocks.cut->loop->var.name() + (round.defined() ? "_1" : ""));
    BlockPlaces result{{{cut, length(blocks, round)}}, use(cut)};
    let_stand_for(values_, blocks.cut, round.defined() ? round * number(blocks.chunk) + use(cut) : use(cut));
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
    return copy(right_, contraction_.right, {sum.position, column.position}, along_sum ? column : sum,
                along_sum ? sum : column);
  }
  Stmt copied_left() {
    const BlockPlaces sum = places(shapes_.summed, summed_round_), row = places(shapes_.rows, row_round_);
    if (by_rows_) return copy(left_, contraction_.left, {row.position, sum.position}, row, sum);
    return copy(left_, contraction_.left, {sum.position, row.position}, sum, row);
  }
  Stmt copy(const Buffer& into, const Scalar& factor, std::vector<Scalar> at, const BlockPlaces& outer,
            const BlockPlaces& inner) const {
    std::vector<BlockLoop> loops = outer.loops;
    loops.insert(loops.end(), inner.loops.begin(), inner.loops.end());
    return in_loops(loops, make_stmt(Store{into, std::move(at), substitute(factor, values_)}, span()));
  }

  Scalar in_tiles(const Scalar& tiles, std::int64_t elements) const {
    const auto known = tiles.as_int();
    return known ? number(*known * elements) : tiles * number(elements);
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
    const auto place = [&](const Blocked& blocks, const Scalar& round, const Scalar& within) {
      const Scalar at = round.defined() ? round * number(blocks.chunk) + within : within;
      let_stand_for(values, blocks.cut, at);
    };
    place(shapes_.summed, summed_round_, term);
    place(shapes_.columns, column_round_, column);
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
      const Scalar left = load(left_, by_rows_ ? std::vector<Scalar>{in_panel(row), use(term)}
                                               : std::vector<Scalar>{use(term), in_panel(row)});
      const Scalar right = shapes_.direct ? right_in_place(use(term), in_columns(column))
                                          : load(right_, {use(term), in_columns(column)});
      return make_stmt(Store{tile, {row, column}, load(tile, {row, column}) + left * right}, span());
    });
    body.push_back(in_loops({{term, elements_in(shapes_.summed, summed_round_)}}, products));
    body.push_back(each_of_tile([&](const Scalar& row, const Scalar& column) {
      const std::vector<Scalar> at{in_panel(row), in_columns(column)};
      const Scalar sum = load(tile, {row, column});
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

  // A product of the 0 that stands where the guard does not hold is 0, but for infinities and what is no
  // number: where the other factor has some, the products are summed as they were written.
  Stmt where_finite(const Stmt& products) {
    const Buffer sum("finite", dtype_, {}, "local");
    const ScalarVar term = variable("term"), other = variable(contraction_.guards_left ? "column" : "row");
    const BlockLoop over_terms{term, elements_in(shapes_.summed, summed_round_)};
    const BlockLoop over_others{other, contraction_.guards_left ? elements_in(shapes_.columns, column_round_)
                                                                : elements_in(shapes_.rows, row_round_)};
    const Scalar factor = contraction_.guards_left ? load(right_, {use(term), use(other)})
                          : by_rows_               ? load(left_, {use(other), use(term)})
                                                   : load(left_, {use(term), use(other)});
    const Stmt add_nothing =
        make_stmt(Store{sum, {}, load(sum, {}) + factor * float_literal(dtype_, 0)}, span());
    const Stmt look = contraction_.guards_left || !by_rows_
                          ? in_loops({over_terms, over_others}, add_nothing)
                          : in_loops({over_others, over_terms}, add_nothing);

    const BlockPlaces rows = places(shapes_.rows, row_round_),
                      columns = places(shapes_.columns, column_round_);
    const BlockPlaces terms = places(shapes_.summed, summed_round_);
    const std::vector<Scalar> at{rows.position, columns.position};
    const Stmt add =
        make_stmt(Store{sums_, at, load(sums_, at) + substitute(contraction_.product, values_)}, span());
    const Stmt guarded = make_stmt(IfStmt{substitute(contraction_.guard, values_), add, {}}, span());
    const Stmt as_written = in_loops(rows.loops, in_loops(columns.loops, in_loops(terms.loops, guarded)));

    BlockStmt block;
    block.name = "guarded";
    block.allocations = {sum};
    block.body = seq({make_stmt(Store{sum, {}, zero(dtype_)}, span()), look,
                      make_stmt(IfStmt{equal(load(sum, {}), zero(dtype_)), products, as_written}, span())},
                     span());
    return make_stmt(std::move(block), span());
  }

  Stmt stored() {
    const BlockPlaces row = places(shapes_.rows, row_round_), column = places(shapes_.columns, column_round_);
    const Store& store = *contraction_.nest.store;
    std::vector<Scalar> at;
    for (const Scalar& index : store.indices) at.push_back(substitute(index, values_));
    const Scalar sum = load(sums_, {row.position, column.position});
    const Scalar first =
        contraction_.init ? substitute(contraction_.init->value, values_) : load(store.buffer, at);
    const auto* literal = first.as<FloatLiteral>();
    const Scalar value = literal && literal->value == 0 ? sum : first + sum;
    std::vector<BlockLoop> loops = row.loops;
    loops.insert(loops.end(), column.loops.begin(), column.loops.end());
    return in_loops(loops, make_stmt(Store{store.buffer, at, value}, span()));
  }

  const Contraction& contraction_;
  const ContractionShapes shapes_;
  const DType index_, dtype_;
  std::vector<BlockLoop> loops_;
  ScalarMap values_;  // of the axes, at the point that is being written
  Scalar row_round_, column_round_, summed_round_;
  Buffer left_, right_, sums_;
  bool joins_ = false;    // a tile is one part of a sum
  bool by_rows_ = false;  // the panel of the left factor is (row, summed)
};

}  // namespace

Stmt blocks_of(const Contraction& contraction, const Target& target) {
  return ContractionWriter(contraction, target).write();
}

}  // namespace relish

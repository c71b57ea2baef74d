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

#include "loops/accesses.h"

namespace relish {
namespace {

constexpr std::int64_t terms_in_part = 256;

std::int64_t rounds_of(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }
// More than any block holds, where only the run knows it.
std::int64_t extent_of(const Axis* axis) { return axis->loop->extent.as_int().value_or(INT64_MAX / 4); }
bool is_known(const Axis* axis) { return axis->loop->extent.as_int().has_value(); }

// Axes in blocks: some run around the blocks, one is cut into chunks, the rest lies whole inside a block.
struct Blocked {
  std::vector<const Axis*> around, inside;
  const Axis* cut = nullptr;
  std::int64_t chunk = 1, inner = 1;

  std::int64_t size() const { return chunk * inner; }
  std::int64_t rounds() const { return rounds_of(extent_of(cut), chunk); }
  bool known() const { return is_known(cut); }
  bool whole() const { return around.empty() && rounds() == 1; }
};

// Blocks of at most `most` elements: as many of the last axes as fit.
Blocked blocked(const std::vector<const Axis*>& axes, std::int64_t most) {
  Blocked result;
  std::size_t at = axes.size() - 1;
  while (at > 0 && is_known(axes[at]) && result.inner * extent_of(axes[at]) * 2 <= most)
    result.inner *= extent_of(axes[at--]);
  result.cut = axes[at];
  result.inside.assign(axes.begin() + static_cast<std::ptrdiff_t>(at) + 1, axes.end());
  result.around.assign(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(at));
  result.chunk = std::clamp<std::int64_t>(most / result.inner, 1, extent_of(result.cut));
  return result;
}

// The same number of rounds, or more of them, in chunks of equal size.
void balance(Blocked& blocks, std::int64_t rounds) {
  if (!blocks.known()) return;
  const std::int64_t extent = extent_of(blocks.cut);
  blocks.chunk = rounds_of(extent, std::clamp<std::int64_t>(rounds, 1, extent));
}

struct Tile {
  std::int64_t rows = 1, vectors = 1, lanes = 1;
  std::int64_t columns() const { return vectors * lanes; }
};

// The tile whose products, loads and idle lanes take least time, for blocks of that size.
Tile best_tile(std::int64_t rows, std::int64_t columns, std::int64_t lanes, std::int64_t registers) {
  Tile best;
  double least = 1e300;
  // Chains of sums that are under way at once: latency times instructions a cycle.
  constexpr double chains = 8;
  for (std::int64_t r = 1; r <= std::min<std::int64_t>(rows, 12); ++r) {
    for (std::int64_t v = 1; v <= 4; ++v) {
      const std::int64_t sums = r * v;
      if (sums > registers * 5 / 8 || (v - 1) * lanes >= columns) continue;
      const auto products = static_cast<double>(rounds_of(rows, r) * r * rounds_of(columns, v * lanes) * v);
      const double loads = static_cast<double>(r + v) / static_cast<double>(sums);
      const double cost = products * (1 + 0.4 * loads) * std::max(1.0, chains / static_cast<double>(sums));
      if (cost < least * 0.999) {
        least = cost;
        best = {r, v, lanes};
      }
    }
  }
  return best;
}

// How many rows of tiles read the right factor where it is.
constexpr std::int64_t most_direct_rows = 2;

// Whether the factor is a load that runs along `axis` and has that nowhere else.
bool runs_along(const Scalar& factor, const Axis* axis) {
  const auto* loaded = factor.as<Load>();
  if (!loaded || loaded->indices.empty()) return false;
  const auto var = loaded->indices.back().as_var();
  if (!var || (*var != axis->var && *var != axis->loop->var)) return false;
  std::vector<ScalarVar> others;
  for (std::size_t d = 0; d + 1 < loaded->indices.size(); ++d) collect_vars(loaded->indices[d], others);
  return std::none_of(others.begin(), others.end(),
                      [&](const ScalarVar& other) { return other == axis->var || other == axis->loop->var; });
}

class ContractionWriter {
 public:
  ContractionWriter(const Contraction& contraction, const Target& target)
      : contraction_(contraction),
        index_(contraction.nest.axes.front().loop->var.dtype()),
        dtype_(contraction.nest.store->buffer.dtype()) {
    const auto bytes = static_cast<std::int64_t>(size_of(dtype_));
    // Panels and sums of a block stay in the cache that a core has for itself.
    const std::int64_t most =
        std::clamp<std::int64_t>(target.private_cache_bytes / (4 * terms_in_part * bytes), 8, 256);
    rows_ = blocked(contraction.rows, most * 3 / 4);
    columns_ = blocked(contraction.columns, most);
    summed_ = blocked(contraction.summed, terms_in_part);
    const std::int64_t rounds = rows_.rounds();
    balance(rows_, rounds > 1 && rounds < 8 ? rounds + rounds % 2 : rounds);
    balance(columns_, columns_.rounds());
    tile_ = best_tile(rows_.size(), columns_.size(), target.vector_bytes / bytes, target.vector_registers);
    direct_ = reads_directly(target.vector_bytes / bytes, target.vector_registers, most);
    if (direct_) return;
    if (rows_.inner == 1 && rows_.rounds() > 1) rows_.chunk = rounds_of(rows_.chunk, tile_.rows) * tile_.rows;
    if (columns_.inner == 1 && columns_.rounds() > 1)
      columns_.chunk = rounds_of(columns_.chunk, tile_.columns()) * tile_.columns();
  }

  Stmt write() {
    for (const Axis* axis : contraction_.around) open(axis);
    for (const Blocked* blocks : {&rows_, &columns_})
      for (const Axis* axis : blocks->around) open(axis);
    row_round_ = open_rounds(rows_);
    column_round_ = open_rounds(columns_);
    const std::size_t outside = loops_.size();

    const std::int64_t rows = rounds_of(rows_.size(), tile_.rows) * tile_.rows;
    const std::int64_t columns = rounds_of(columns_.size(), tile_.columns()) * tile_.columns();
    // One vector more than a row needs, so that rows do not all fall into the same lines of a cache.
    if (!direct_) right_ = panel(contraction_.right, "right", summed_.size(), columns + tile_.lanes);
    by_rows_ = moves_along(contraction_.left, contraction_.summed.back());
    left_ = by_rows_ ? panel(contraction_.left, "left", rows, summed_.size())
                     : panel(contraction_.left, "left", summed_.size(), rows);
    sums_ = Buffer("sums", dtype_, {number(rows), number(columns)});

    for (const Axis* axis : summed_.around) open(axis);
    summed_round_ = open_rounds(summed_);
    joins_ = !summed_.whole() || contraction_.guard.defined();
    std::vector<Stmt> part;
    if (!direct_) part.push_back(copied_right());
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
    if (!direct_) whole.allocations.insert(whole.allocations.begin() + 1, right_);
    whole.body = seq(std::move(block), span());
    return close(make_stmt(std::move(whole), span()), 0);
  }

 private:
  // Whether few rows meet whole tiles of columns, which are then chosen.
  bool reads_directly(std::int64_t lanes, std::int64_t registers, std::int64_t most) {
    const std::int64_t columns = extent_of(columns_.cut), rows = rows_.size();
    if (!columns_.known() || contraction_.columns.size() > 1 || contraction_.summed.size() > 1 ||
        contraction_.guard.defined() || rows_.rounds() > 1 || rows > 12 * most_direct_rows ||
        !runs_along(contraction_.right, columns_.cut))
      return false;
    const std::int64_t tile_rows = rows > 12 ? rounds_of(rows, most_direct_rows) : rows;
    for (std::int64_t vectors = 4; vectors > 0; --vectors) {
      const std::int64_t wide = vectors * lanes;
      if (columns % wide != 0 || tile_rows * vectors > std::max<std::int64_t>(registers * 5 / 8, 1)) continue;
      tile_ = {tile_rows, vectors, lanes};
      columns_.chunk = wide;
      for (std::int64_t chunk = wide; chunk <= std::min(most, columns); chunk += wide)
        if (columns % chunk == 0) columns_.chunk = chunk;
      return true;
    }
    return false;
  }

  struct Loop {
    ScalarVar var;
    Scalar extent;
    LoopKind kind = LoopKind::Serial;
  };
  // Places in a block: loops over its axes, and where among all elements of the block they are.
  struct Places {
    std::vector<Loop> loops;
    Scalar position;
  };

  Span span() const { return contraction_.nest.store_stmt->span; }
  Scalar number(std::int64_t value) const { return int_literal(index_, value); }
  ScalarVar variable(const std::string& name) const { return {name, index_, span()}; }

  static Stmt wrapped(const std::vector<Loop>& loops, Stmt body, Span span, const Scalar& zero) {
    for (std::size_t i = loops.size(); i-- > 0;)
      body = make_stmt(For{loops[i].var, zero, loops[i].extent, loops[i].kind, body, {}}, span);
    return body;
  }
  Stmt in_loops(const std::vector<Loop>& loops, Stmt body) const {
    return wrapped(loops, std::move(body), span(), number(0));
  }

  void stands_for(const Axis* axis, const Scalar& value) {
    values_.insert_or_assign(axis->var.id(), value);
    values_.insert_or_assign(axis->loop->var.id(), value);
  }
  // A loop over a whole axis, around all that follows.
  void open(const Axis* axis) {
    const ScalarVar var = variable(axis->loop->var.name());
    loops_.push_back({var, axis->loop->extent});
    stands_for(axis, use(var));
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
    const std::vector<Loop> own(loops_.begin() + static_cast<std::ptrdiff_t>(outside), loops_.end());
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
  Places places(const Blocked& blocks, const Scalar& round) {
    const ScalarVar cut = variable(blocks.cut->loop->var.name() + (round.defined() ? "_1" : ""));
    Places result{{{cut, length(blocks, round)}}, use(cut)};
    stands_for(blocks.cut, round.defined() ? round * number(blocks.chunk) + use(cut) : use(cut));
    for (const Axis* axis : blocks.inside) {
      const ScalarVar var = variable(axis->loop->var.name());
      stands_for(axis, use(var));
      result.loops.push_back({var, axis->loop->extent});
      result.position = result.position * axis->loop->extent + use(var);
    }
    return result;
  }

  Buffer panel(const Scalar& factor, const std::string& side, std::int64_t first, std::int64_t second) const {
    const auto* loaded = factor.as<Load>();
    return {(loaded ? loaded->buffer->name() : side) + "_panel", dtype_, {number(first), number(second)}};
  }
  // Whether the factor runs along memory with that axis.
  static bool moves_along(const Scalar& factor, const Axis* axis) {
    const auto* loaded = factor.as<Load>();
    if (!loaded || loaded->indices.empty()) return true;
    std::vector<ScalarVar> vars;
    collect_vars(loaded->indices.back(), vars);
    return std::any_of(vars.begin(), vars.end(),
                       [&](const ScalarVar& var) { return var == axis->var || var == axis->loop->var; });
  }

  // The copy runs along memory in what it reads.
  Stmt copied_right() {
    const Places sum = places(summed_, summed_round_), column = places(columns_, column_round_);
    const bool along_sum = moves_along(contraction_.right, contraction_.summed.back()) &&
                           !moves_along(contraction_.right, contraction_.columns.back());
    return copy(right_, contraction_.right, {sum.position, column.position}, along_sum ? column : sum,
                along_sum ? sum : column);
  }
  Stmt copied_left() {
    const Places sum = places(summed_, summed_round_), row = places(rows_, row_round_);
    if (by_rows_) return copy(left_, contraction_.left, {row.position, sum.position}, row, sum);
    return copy(left_, contraction_.left, {sum.position, row.position}, sum, row);
  }
  Stmt copy(const Buffer& into, const Scalar& factor, std::vector<Scalar> at, const Places& outer,
            const Places& inner) const {
    std::vector<Loop> loops = outer.loops;
    loops.insert(loops.end(), inner.loops.begin(), inner.loops.end());
    return in_loops(loops, make_stmt(Store{into, std::move(at), substitute(factor, values_)}, span()));
  }

  Scalar row_tiles() const { return tiles_in(rows_, row_round_, tile_.rows); }
  Scalar column_tiles() const { return tiles_in(columns_, column_round_, tile_.columns()); }
  Scalar in_tiles(const Scalar& tiles, std::int64_t elements) const {
    const auto known = tiles.as_int();
    return known ? number(*known * elements) : tiles * number(elements);
  }

  Stmt cleared() const {
    const ScalarVar row = variable("row"), column = variable("column");
    return in_loops(
        {{row, in_tiles(row_tiles(), tile_.rows)}, {column, in_tiles(column_tiles(), tile_.columns())}},
        make_stmt(Store{sums_, {use(row), use(column)}, zero(dtype_)}, span()));
  }

  // A statement for every element of a tile, by its row and column there.
  template <class Make>
  Stmt each_of_tile(const Make& make) const {
    const ScalarVar row = variable("row"), vector = variable("vector"), lane = variable("lane");
    std::vector<Loop> loops{{row, number(tile_.rows), LoopKind::Unrolled}};
    Scalar column = use(lane);
    if (tile_.vectors > 1) {
      loops.push_back({vector, number(tile_.vectors), LoopKind::Unrolled});
      column = use(vector) * number(tile_.lanes) + use(lane);
    }
    loops.push_back({lane, number(tile_.lanes), LoopKind::Vectorized});
    return in_loops(loops, make(use(row), column));
  }

  // The right factor where it is, at a term of the part and a column of the block.
  Scalar right_in_place(const Scalar& term, const Scalar& column) const {
    ScalarMap values = values_;
    const auto place = [&](const Blocked& blocks, const Scalar& round, const Scalar& within) {
      const Scalar at = round.defined() ? round * number(blocks.chunk) + within : within;
      values.insert_or_assign(blocks.cut->var.id(), at);
      values.insert_or_assign(blocks.cut->loop->var.id(), at);
    };
    place(summed_, summed_round_, term);
    place(columns_, column_round_, column);
    return substitute(contraction_.right, values);
  }

  Stmt tiles() const {
    const Buffer tile("tile", dtype_, {number(tile_.rows), number(tile_.columns())}, "local");
    const ScalarVar row_tile = variable("row_tile"), column_tile = variable("column_tile"),
                    term = variable("term");
    const auto in_panel = [&](const Scalar& row) { return use(row_tile) * number(tile_.rows) + row; };
    const auto in_columns = [&](const Scalar& column) {
      return use(column_tile) * number(tile_.columns()) + column;
    };
    std::vector<Stmt> body;
    body.push_back(each_of_tile([&](const Scalar& row, const Scalar& column) {
      return make_stmt(Store{tile, {row, column}, zero(dtype_)}, span());
    }));
    const Stmt products = each_of_tile([&](const Scalar& row, const Scalar& column) {
      const Scalar left = load(left_, by_rows_ ? std::vector<Scalar>{in_panel(row), use(term)}
                                               : std::vector<Scalar>{use(term), in_panel(row)});
      const Scalar right = direct_ ? right_in_place(use(term), in_columns(column))
                                   : load(right_, {use(term), in_columns(column)});
      return make_stmt(Store{tile, {row, column}, load(tile, {row, column}) + left * right}, span());
    });
    body.push_back(in_loops({{term, elements_in(summed_, summed_round_)}}, products));
    body.push_back(each_of_tile([&](const Scalar& row, const Scalar& column) {
      const std::vector<Scalar> at{in_panel(row), in_columns(column)};
      const Scalar sum = load(tile, {row, column});
      return make_stmt(Store{sums_, at, joins_ ? load(sums_, at) + sum : sum}, span());
    }));
    BlockStmt block;
    block.name = "tile";
    block.allocations = {tile};
    block.body = seq(std::move(body), span());
    return in_loops({{column_tile, column_tiles()}, {row_tile, row_tiles()}},
                    make_stmt(std::move(block), span()));
  }

  // A product of the 0 that stands where the guard does not hold is 0, but for infinities and what is no
  // number: where the other factor has some, the products are summed as they were written.
  Stmt where_finite(const Stmt& products) {
    const Buffer sum("finite", dtype_, {}, "local");
    const ScalarVar term = variable("term"), other = variable(contraction_.guards_left ? "column" : "row");
    const Loop over_terms{term, elements_in(summed_, summed_round_)};
    const Loop over_others{other, contraction_.guards_left ? elements_in(columns_, column_round_)
                                                           : elements_in(rows_, row_round_)};
    const Scalar factor = contraction_.guards_left ? load(right_, {use(term), use(other)})
                          : by_rows_               ? load(left_, {use(other), use(term)})
                                                   : load(left_, {use(term), use(other)});
    const Stmt add_nothing =
        make_stmt(Store{sum, {}, load(sum, {}) + factor * float_literal(dtype_, 0)}, span());
    const Stmt look = contraction_.guards_left || !by_rows_
                          ? in_loops({over_terms, over_others}, add_nothing)
                          : in_loops({over_others, over_terms}, add_nothing);

    const Places rows = places(rows_, row_round_), columns = places(columns_, column_round_);
    const Places terms = places(summed_, summed_round_);
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
    const Places row = places(rows_, row_round_), column = places(columns_, column_round_);
    const Store& store = *contraction_.nest.store;
    std::vector<Scalar> at;
    for (const Scalar& index : store.indices) at.push_back(substitute(index, values_));
    const Scalar sum = load(sums_, {row.position, column.position});
    const Scalar first =
        contraction_.init ? substitute(contraction_.init->value, values_) : load(store.buffer, at);
    const auto* literal = first.as<FloatLiteral>();
    const Scalar value = literal && literal->value == 0 ? sum : first + sum;
    std::vector<Loop> loops = row.loops;
    loops.insert(loops.end(), column.loops.begin(), column.loops.end());
    return in_loops(loops, make_stmt(Store{store.buffer, at, value}, span()));
  }

  const Contraction& contraction_;
  const DType index_, dtype_;
  Blocked rows_, columns_, summed_;
  Tile tile_;
  std::vector<Loop> loops_;
  ScalarMap values_;  // of the axes, at the point that is being written
  Scalar row_round_, column_round_, summed_round_;
  Buffer left_, right_, sums_;
  bool direct_ = false;   // the right factor has no panel
  bool joins_ = false;    // a tile is one part of a sum
  bool by_rows_ = false;  // the panel of the left factor is (row, summed)
};

}  // namespace

Stmt blocks_of(const Contraction& contraction, const Target& target) {
  return ContractionWriter(contraction, target).write();
}

}  // namespace relish

// Tiles of copies. For B[.., r, w] = A[.., w, r] and lines of memory of s elements:
//
//   for every other axis, rows w_0 of tiles, tiles r_0 of s x s:
//     for the squares of a tile that registers hold:
//       read the rows of A into a local buffer, by vectors along r
//       store the columns of that buffer, by vectors along w
//   the last columns (fewer than s of w) for all r; the last rows (fewer than s of r) for all whole tiles of
//   w: in halves, quarters, … of squares, where their number is known
#include "schedule/nests/movement.h"

#include <algorithm>

#include "loops/accesses.h"
#include "loops/nest.h"

namespace relish {
namespace {

// The loops of an unrolled square stand for so many copies at most (see unrolls() of loops/work.h).
constexpr std::int64_t widest_square = 16;
// Fewer rows or columns behind whole squares are copied one by one.
constexpr std::int64_t least_part = 2;

// Loops that may run in any order, each over elements of their own.
bool any_order(const Nest& nest, RangeProver& prover) {
  std::vector<Access> loads;
  collect_loads(nest.store->value, loads);
  if (std::any_of(loads.begin(), loads.end(),
                  [&](const Access& load) { return *load.buffer == nest.store->buffer; }))
    return false;
  return std::all_of(nest.axes.begin(), nest.axes.end(), [&](const Axis& axis) {
    const bool ordered = axis.iter && axis.iter->kind != IterKind::Spatial;
    const bool bounds_fixed = std::none_of(nest.axes.begin(), nest.axes.end(), [&](const Axis& other) {
      return prover.depends_on(axis.loop->extent, other.loop->var);
    });
    return axis.stored && !ordered && bounds_fixed && axis.loop->annotations.empty() &&
           (axis.loop->kind == LoopKind::Serial || axis.loop->kind == LoopKind::Parallel) &&
           axis.loop->var.dtype() == nest.axes.front().loop->var.dtype();
  });
}

// What a nest does along its axes.
struct Movement {
  const Axis* written = nullptr;  // along which the store runs
  const Axis* read = nullptr;     // along which a load runs that goes across memory with `written`
};

// Inside the nest's loops.
Movement movement_of(const Nest& nest, RangeProver& prover) {
  Movement movement;
  const auto pace = [&](const Access& access, const Axis& axis) {
    return pace_of(*access.buffer, *access.indices, axis.loop->var, prover);
  };
  const Access store{&nest.store->buffer, &nest.store->indices, true};
  for (const Axis& axis : nest.axes)
    if (pace(store, axis) == Pace::Along) movement.written = &axis;
  if (!movement.written) return movement;
  std::vector<Access> loads;
  collect_loads(nest.store->value, loads);
  for (const Access& load : loads) {
    if (movement.read || pace(load, *movement.written) != Pace::Across) continue;
    for (const Axis& axis : nest.axes)
      if (pace(load, axis) == Pace::Along) movement.read = &axis;
  }
  return movement;
}

// Whether copies go through vectors of registers.
bool has_vectors(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Int32 || dtype == DType::Int64;
}

std::int64_t known_elements(const Nest& nest) {
  std::int64_t elements = 1;
  for (const Axis& axis : nest.axes)
    if (__builtin_mul_overflow(elements, axis.loop->extent.as_int().value_or(INT64_MAX), &elements))
      return INT64_MAX;
  return elements;
}

class TileWriter {
 public:
  TileWriter(const Nest& nest, const Movement& movement, const Target& target)
      : nest_(nest),
        read_(*movement.read),
        written_(*movement.written),
        dtype_(nest.store->buffer.dtype()),
        index_(read_.loop->var.dtype()) {
    const auto bytes = static_cast<std::int64_t>(size_of(dtype_));
    side_ = std::max<std::int64_t>(2, target.line_bytes / bytes);
    const std::int64_t lanes = std::min({target.vector_bytes / bytes, side_, widest_square});
    if (nest.store->value.as<Load>() && has_vectors(dtype_) && lanes > 1 && side_ % lanes == 0)
      square_ = lanes;
  }

  // Undefined when no tile is whole.
  Stmt write() {
    const Scalar rows = whole(read_), columns = whole(written_);
    if (columns.as_int() == 0) return {};
    std::vector<Stmt> parts;
    if (rows.as_int() != 0) parts.push_back(tiles(rows, columns));
    if (const Scalar rest = rest_of(written_, columns); rest.as_int() != 0)
      parts.push_back(last_columns(columns, rest));
    if (const Scalar rest = rest_of(read_, rows); rest.as_int() != 0)
      parts.push_back(last_rows(rows, columns, rest));
    return seq(std::move(parts), nest_.store_stmt->span);
  }

 private:
  struct Loop {
    ScalarVar var;
    Scalar extent;
    LoopKind kind = LoopKind::Serial;
  };

  Scalar number(std::int64_t value) const { return int_literal(index_, value); }
  ScalarVar part_of(const Axis& axis, int part) const {
    return {axis.loop->var.name() + "_" + std::to_string(part), index_, axis.loop->var.span()};
  }
  // How many tiles an axis has, and how many of its iterations lie behind them.
  Scalar whole(const Axis& axis) const {
    if (const auto extent = axis.loop->extent.as_int()) return number(*extent / side_);
    return floor_div(axis.loop->extent, number(side_));
  }
  // The elements of so many tiles.
  Scalar in_tiles(const Scalar& tiles) const {
    const auto known = tiles.as_int();
    return known ? number(*known * side_) : tiles * number(side_);
  }
  Scalar rest_of(const Axis& axis, const Scalar& tiles) const {
    if (const auto extent = axis.loop->extent.as_int()) return number(*extent % side_);
    return axis.loop->extent - in_tiles(tiles);
  }

  Stmt in_loops(const std::vector<Loop>& loops, Stmt body) const {
    for (std::size_t i = loops.size(); i-- > 0;)
      body = make_stmt(For{loops[i].var, number(0), loops[i].extent, loops[i].kind, body, {}},
                       nest_.store_stmt->span);
    return body;
  }
  // The loops over the other axes, new ones for every part of the result.
  std::vector<Loop> around(ScalarMap& values) const {
    std::vector<Loop> loops;
    for (const Axis& axis : nest_.axes) {
      if (&axis == &read_ || &axis == &written_) continue;
      const ScalarVar var(axis.loop->var.name(), index_, axis.loop->var.span());
      loops.push_back({var, axis.loop->extent});
      stands_for(axis, use(var), values);
    }
    return loops;
  }
  static void stands_for(const Axis& axis, const Scalar& value, ScalarMap& values) {
    values.insert_or_assign(axis.var.id(), value);
    values.insert_or_assign(axis.loop->var.id(), value);
  }
  // The store as it was written, at these places.
  Stmt stored(const ScalarMap& values) const {
    BufferMap buffers;
    return substitute(nest_.store_stmt, values, buffers);
  }

  Stmt tiles(const Scalar& rows, const Scalar& columns) const {
    ScalarMap values;
    std::vector<Loop> loops = around(values);
    const ScalarVar column = part_of(written_, 0), row = part_of(read_, 0);
    loops.push_back({column, columns});
    loops.push_back({row, rows});
    Scalar first_row = use(row) * number(side_), first_column = use(column) * number(side_);
    if (square_ == 0) {
      const ScalarVar inner_row = part_of(read_, 1), inner_column = part_of(written_, 1);
      loops.push_back({inner_row, number(side_)});
      loops.push_back({inner_column, number(side_)});
      stands_for(read_, first_row + use(inner_row), values);
      stands_for(written_, first_column + use(inner_column), values);
      return in_loops(loops, stored(values));
    }
    if (square_ < side_) {
      const ScalarVar inner_row = part_of(read_, 1), inner_column = part_of(written_, 1);
      loops.push_back({inner_row, number(side_ / square_)});
      loops.push_back({inner_column, number(side_ / square_)});
      first_row = first_row + use(inner_row) * number(square_);
      first_column = first_column + use(inner_column) * number(square_);
    }
    return in_loops(loops, square({first_row, square_}, {first_column, square_}, values));
  }

  // So many iterations of an axis from one on.
  struct Part {
    Scalar first;
    std::int64_t count;
  };
  // A square, or part of one, by way of registers: rows of what is read become rows of the buffer, its
  // columns are stored.
  Stmt square(const Part& rows, const Part& columns, ScalarMap values) const {
    const Span span = nest_.store_stmt->span;
    const Buffer held("square", dtype_, {number(columns.count), number(rows.count)}, "local");
    const auto each = [&](const Axis& outer, const Axis& inner, const auto& make) {
      const ScalarVar outside = part_of(outer, 2), inside = part_of(inner, 2);
      const bool rows_outside = &outer == &read_;
      const Scalar row = use(rows_outside ? outside : inside), column = use(rows_outside ? inside : outside);
      stands_for(read_, rows.first + row, values);
      stands_for(written_, columns.first + column, values);
      const std::int64_t most = rows_outside ? rows.count : columns.count,
                         wide = rows_outside ? columns.count : rows.count;
      return in_loops(
          {{outside, number(most), LoopKind::Unrolled}, {inside, number(wide), LoopKind::Vectorized}},
          make_stmt(make({column, row}), span));
    };
    const Stmt in = each(written_, read_, [&](std::vector<Scalar> at) {
      return Store{held, std::move(at), substitute(nest_.store->value, values)};
    });
    const Stmt out = each(read_, written_, [&](std::vector<Scalar> at) {
      std::vector<Scalar> indices;
      for (const Scalar& index : nest_.store->indices) indices.push_back(substitute(index, values));
      return Store{nest_.store->buffer, std::move(indices), load(held, std::move(at))};
    });
    BlockStmt block;
    block.name = "square";
    block.allocations = {held};
    block.body = seq({in, out}, span);
    return make_stmt(std::move(block), span);
  }

  // The iterations behind whole tiles, whose number is known, in parts of squares; then what is left of them,
  // fewer than make one.
  std::vector<Part> parts_of_rest(const Scalar& tiles, const Scalar& rest) const {
    std::vector<Part> parts;
    std::int64_t first = *in_tiles(tiles).as_int(), left = *rest.as_int();
    for (std::int64_t size = square_; size >= least_part; size /= 2)
      for (; left >= size; left -= size, first += size) parts.push_back({number(first), size});
    if (left > 0) parts.push_back({number(first), left});
    return parts;
  }

  // The columns behind whole tiles: of whole tiles of rows in parts of squares.
  Stmt last_columns(const Scalar& columns, const Scalar& rest) const {
    const Scalar rows = whole(read_);
    if (square_ == 0 || !rest.as_int() || rows.as_int() == 0) return plain_columns(in_tiles(columns), rest);
    std::vector<Stmt> all;
    for (const Part& part : parts_of_rest(columns, rest)) {
      if (part.count < least_part) {
        all.push_back(plain_columns(part.first, number(part.count)));
        continue;
      }
      ScalarMap values;
      std::vector<Loop> loops = around(values);
      const ScalarVar row = part_of(read_, 0), inside = part_of(read_, 1);
      loops.push_back({row, rows});
      Scalar first = use(row) * number(side_);
      if (square_ < side_) {
        loops.push_back({inside, number(side_ / square_)});
        first = first + use(inside) * number(square_);
      }
      all.push_back(in_loops(loops, square({first, square_}, part, values)));
      if (const Scalar behind = rest_of(read_, rows); behind.as_int() != 0)
        all.push_back(corner(in_tiles(rows), behind, part));
    }
    return seq(std::move(all), nest_.store_stmt->span);
  }
  // What is behind whole tiles of rows and of columns.
  Stmt corner(const Scalar& first_row, const Scalar& rows, const Part& columns) const {
    ScalarMap values;
    std::vector<Loop> loops = around(values);
    const ScalarVar row = part_of(read_, 1), column = part_of(written_, 1);
    loops.push_back({row, rows});
    loops.push_back({column, number(columns.count)});
    stands_for(read_, first_row + use(row), values);
    stands_for(written_, columns.first + use(column), values);
    return in_loops(loops, stored(values));
  }
  Stmt plain_columns(const Scalar& first, const Scalar& rest) const {
    ScalarMap values;
    std::vector<Loop> loops = around(values);
    const ScalarVar row(read_.loop->var.name(), index_, read_.loop->var.span()), last = part_of(written_, 1);
    loops.push_back({row, read_.loop->extent});
    loops.push_back({last, rest});
    stands_for(read_, use(row), values);
    stands_for(written_, first + use(last), values);
    return in_loops(loops, stored(values));
  }

  // The rows behind whole tiles, of whole tiles of columns.
  Stmt last_rows(const Scalar& rows, const Scalar& columns, const Scalar& rest) const {
    if (square_ == 0 || !rest.as_int()) return plain_rows(in_tiles(rows), columns, rest);
    std::vector<Stmt> all;
    for (const Part& part : parts_of_rest(rows, rest)) {
      if (part.count < least_part) {
        all.push_back(plain_rows(part.first, columns, number(part.count)));
        continue;
      }
      ScalarMap values;
      std::vector<Loop> loops = around(values);
      const ScalarVar column = part_of(written_, 0), inside = part_of(written_, 1);
      loops.push_back({column, columns});
      Scalar first = use(column) * number(side_);
      if (square_ < side_) {
        loops.push_back({inside, number(side_ / square_)});
        first = first + use(inside) * number(square_);
      }
      all.push_back(in_loops(loops, square(part, {first, square_}, values)));
    }
    return seq(std::move(all), nest_.store_stmt->span);
  }
  Stmt plain_rows(const Scalar& first, const Scalar& columns, const Scalar& rest) const {
    ScalarMap values;
    std::vector<Loop> loops = around(values);
    const ScalarVar column = part_of(written_, 0), last = part_of(read_, 1), inside = part_of(written_, 1);
    loops.push_back({column, columns});
    loops.push_back({last, rest});
    loops.push_back({inside, number(side_)});
    stands_for(read_, first + use(last), values);
    stands_for(written_, use(column) * number(side_) + use(inside), values);
    return in_loops(loops, stored(values));
  }

  const Nest& nest_;
  const Axis& read_;
  const Axis& written_;
  const DType dtype_, index_;
  std::int64_t side_ = 2, square_ = 0;  // elements; no square: loops over the tile
};

// The same nest with the loop of that axis innermost.
Stmt with_innermost(const Nest& nest, const Axis& innermost) {
  Stmt body = nest.block ? nest.block_stmt : nest.store_stmt;
  const auto around = [&](const Axis& axis) {
    For loop = *axis.loop;
    loop.kind = LoopKind::Serial;
    loop.body = body;
    body = make_stmt(std::move(loop), axis.span);
  };
  around(innermost);
  for (std::size_t i = nest.axes.size(); i-- > 0;)
    if (&nest.axes[i] != &innermost) around(nest.axes[i]);
  return body;
}

}  // namespace

std::optional<Stmt> move_in_tiles(const Stmt& stmt, RangeProver& prover, const Target& target) {
  auto found = perfect_nest(stmt);
  if (!found || !find_stored_axes(*found)) return std::nullopt;
  const Nest& nest = *found;
  if (nest.axes.size() < 2 || (nest.block && nest.block->init.defined())) return std::nullopt;
  enter(nest, prover);
  const bool free = any_order(nest, prover) && !may_fault(nest, nullptr, prover);
  const Movement movement = free ? movement_of(nest, prover) : Movement{};
  leave(nest, prover);
  if (movement.read && known_elements(nest) >= target.least_moved) {
    if (const Stmt tiles = TileWriter(nest, movement, target).write(); tiles.defined()) return tiles;
  }
  if (!movement.written || movement.written == &nest.axes.back()) return std::nullopt;
  return with_innermost(nest, *movement.written);
}

}  // namespace relish

// Sums in lanes. For C[i] += A[i, k] * x[k]:
//
//   C[i] = first value
//   for every few rows i:
//     for every part of 2^15 terms:
//       lanes[row, 32] = 0; last[row] = 0
//       for every 32 terms: lanes[row, :] += A[row, 32 terms] * x[32 terms], in registers
//       for the terms behind them: last[row] += A * x
//       eighths[row, 8] = lanes of the same remainder by 8
//       C[i] += sum of the eighths + last
#include "schedule/nests/dots.h"

#include <algorithm>

#include "loops/accesses.h"
#include "loops/nest.h"
#include "loops/reduction.h"
#include "schedule/nests/lanes.h"

namespace relish {
namespace {

constexpr std::int64_t lanes_of_dot = 32, eighths_of_dot = 8;
constexpr std::int64_t terms_of_part = 1 << 15;
// Fewer are summed as quickly one after the other.
constexpr std::int64_t least_terms = 64;
// So many parts of a sum may be joined one after the other.
constexpr std::int64_t most_parts = 1024;

// What a nest of the rule consists of.
struct Dot {
  const Nest& nest;
  const Store* init;  // null: joined to what the result holds
  Scalar addend;
  std::vector<const Axis*> stored, outer;  // outer: reduce loops around the last one
  const Axis* summed;
};

std::int64_t product_of_extents(const std::vector<const Axis*>& axes) {
  std::int64_t product = 1;
  for (const Axis* axis : axes)
    if (__builtin_mul_overflow(product, axis->loop->extent.as_int().value_or(INT64_MAX), &product))
      return INT64_MAX;
  return product;
}

class DotWriter {
 public:
  DotWriter(const Dot& dot, const Target& target)
      : dot_(dot), index_(dot.summed->loop->var.dtype()), dtype_(dot.nest.store->buffer.dtype()) {
    // As many rows as leave registers for what is read.
    const std::int64_t lanes =
        std::max<std::int64_t>(1, target.vector_bytes / static_cast<std::int64_t>(size_of(dtype_)));
    const std::int64_t vectors = std::max<std::int64_t>(1, lanes_of_dot / lanes);
    const std::int64_t most = std::clamp<std::int64_t>(target.vector_registers / 2 / vectors, 1, 4);
    const Axis* last = dot.stored.empty() ? nullptr : dot.stored.back();
    const auto extent = last ? last->loop->extent.as_int() : std::nullopt;
    for (rows_ = most; rows_ > 1 && !(extent && *extent % rows_ == 0); --rows_) {
    }
  }

  // `accumulators` receives the buffers that are made.
  Stmt write(Accumulators& accumulators) {
    std::vector<Loop> around;
    for (const Axis* axis : dot_.stored) {
      if (axis == dot_.stored.back() && rows_ > 1) break;
      around.push_back(opened(*axis));
    }
    if (rows_ > 1) {
      const Axis& last = *dot_.stored.back();
      row_loop_ = named(last, "_0");
      around.push_back({row_loop_, number(*last.loop->extent.as_int() / rows_)});
    }
    const Buffer sums("lanes", dtype_, {number(rows_), number(lanes_of_dot)}, "local");
    const Buffer eighths("eighths", dtype_, {number(rows_), number(eighths_of_dot)}, "local");
    const Buffer rest("last", dtype_, {number(rows_)}, "local");
    for (const Buffer* each : {&sums, &eighths, &rest}) accumulators.insert(each->id());

    std::vector<Loop> reduce;
    for (const Axis* axis : dot_.outer) reduce.push_back(opened(*axis));
    const auto terms = dot_.summed->loop->extent.as_int();
    Scalar first = number(0), length = dot_.summed->loop->extent;
    if (!terms || *terms > terms_of_part) {
      const ScalarVar part = named(*dot_.summed, "_0");
      const Scalar all = dot_.summed->loop->extent, most = number(terms_of_part);
      reduce.push_back({part, terms ? number((*terms + terms_of_part - 1) / terms_of_part)
                                    : floor_div(all + number(terms_of_part - 1), most)});
      first = use(part) * most;
      length = terms && *terms % terms_of_part == 0 ? most : min(most, all - first);
    }
    const bool at_once = reduce.empty() && dot_.init;

    BlockStmt block;
    block.name = "dot";
    block.allocations = {sums, eighths, rest};
    block.body = seq({cleared(sums, rest), whole_vectors(sums, first, length),
                      last_terms(rest, first, length), folded(sums, eighths), joined(eighths, rest, at_once)},
                     span());
    Stmt body = in_loops(reduce, make_stmt(std::move(block), span()));
    if (dot_.init && !at_once) body = seq({started(), body}, span());
    return in_loops(around, body);
  }

 private:
  struct Loop {
    ScalarVar var;
    Scalar extent;
    LoopKind kind = LoopKind::Serial;
  };

  Span span() const { return dot_.nest.store_stmt->span; }
  Scalar number(std::int64_t value) const { return int_literal(index_, value); }
  ScalarVar variable(const std::string& name) const { return {name, index_, span()}; }
  ScalarVar named(const Axis& axis, const char* suffix) const {
    return {axis.loop->var.name() + suffix, index_, axis.loop->var.span()};
  }
  Stmt in_loops(const std::vector<Loop>& loops, Stmt body) const {
    for (std::size_t i = loops.size(); i-- > 0;)
      body = make_stmt(For{loops[i].var, number(0), loops[i].extent, loops[i].kind, body, {}}, span());
    return body;
  }
  void stands_for(const Axis& axis, const Scalar& value) {
    values_.insert_or_assign(axis.var.id(), value);
    values_.insert_or_assign(axis.loop->var.id(), value);
  }
  Loop opened(const Axis& axis) {
    const ScalarVar var = named(axis, "");
    stands_for(axis, use(var));
    return {var, axis.loop->extent};
  }
  // A loop over the rows that are summed at once; without one the row is 0.
  std::vector<Loop> over_rows(Scalar& row) {
    row = number(0);
    if (rows_ == 1) return {};
    const ScalarVar var = variable("row");
    row = use(var);
    stands_for(*dot_.stored.back(), use(row_loop_) * number(rows_) + row);
    return {{var, number(rows_), LoopKind::Unrolled}};
  }
  // What is stored to `into` for every row and lane.
  template <class Make>
  Stmt each_lane(const Buffer& into, std::int64_t lanes, const Make& make) {
    Scalar row;
    std::vector<Loop> loops = over_rows(row);
    const ScalarVar lane = variable("lane");
    loops.push_back({lane, number(lanes), LoopKind::Vectorized});
    return in_loops(loops, make_stmt(Store{into, {row, use(lane)}, make(row, use(lane))}, span()));
  }

  Stmt cleared(const Buffer& sums, const Buffer& rest) {
    const Stmt lanes =
        each_lane(sums, lanes_of_dot, [&](const Scalar&, const Scalar&) { return zero(dtype_); });
    Scalar row;
    const std::vector<Loop> loops = over_rows(row);
    return seq({lanes, in_loops(loops, make_stmt(Store{rest, {row}, zero(dtype_)}, span()))}, span());
  }
  Stmt whole_vectors(const Buffer& sums, const Scalar& first, const Scalar& length) {
    const ScalarVar vector = variable(dot_.summed->loop->var.name() + "_1");
    const auto known = length.as_int();
    const Stmt products = each_lane(sums, lanes_of_dot, [&](const Scalar& row, const Scalar& lane) {
      const Scalar within = use(vector) * number(lanes_of_dot) + lane;
      stands_for(*dot_.summed, first.as_int() == 0 ? within : first + within);
      return load(sums, {row, lane}) + substitute(dot_.addend, values_);
    });
    return in_loops(
        {{vector, known ? number(*known / lanes_of_dot) : floor_div(length, number(lanes_of_dot))}},
        products);
  }
  Stmt last_terms(const Buffer& rest, const Scalar& first, const Scalar& length) {
    const auto known = length.as_int();
    if (known && *known % lanes_of_dot == 0) return seq({}, span());
    const Scalar done = known ? number(*known / lanes_of_dot * lanes_of_dot)
                              : floor_div(length, number(lanes_of_dot)) * number(lanes_of_dot);
    const ScalarVar term = variable(dot_.summed->loop->var.name() + "_1");
    Scalar row;
    const std::vector<Loop> rows = over_rows(row);
    stands_for(*dot_.summed, (first.as_int() == 0 ? done : first + done) + use(term));
    const Scalar value = load(rest, {row}) + substitute(dot_.addend, values_);
    return in_loops({{term, known ? number(*known % lanes_of_dot) : length - done}},
                    in_loops(rows, make_stmt(Store{rest, {row}, value}, span())));
  }
  Stmt folded(const Buffer& sums, const Buffer& eighths) {
    return each_lane(eighths, eighths_of_dot, [&](const Scalar& row, const Scalar& lane) {
      const auto at = [&](std::int64_t part) {
        return load(sums, {row, part == 0 ? lane : lane + number(part * eighths_of_dot)});
      };
      return (at(0) + at(2)) + (at(1) + at(3));
    });
  }
  std::vector<Scalar> element() const {
    std::vector<Scalar> at;
    for (const Scalar& index : dot_.nest.store->indices) at.push_back(substitute(index, values_));
    return at;
  }
  Stmt started() {
    Scalar row;
    const std::vector<Loop> rows = over_rows(row);
    const Scalar value = substitute(dot_.init->value, values_);
    return in_loops(rows, make_stmt(Store{dot_.nest.store->buffer, element(), value}, span()));
  }
  Stmt joined(const Buffer& eighths, const Buffer& rest, bool at_once) {
    Scalar row;
    const std::vector<Loop> rows = over_rows(row);
    const auto at = [&](std::int64_t lane) { return load(eighths, {row, number(lane)}); };
    const Scalar sum =
        (((at(0) + at(4)) + (at(2) + at(6))) + ((at(1) + at(5)) + (at(3) + at(7)))) + load(rest, {row});
    const Buffer& result = dot_.nest.store->buffer;
    const Scalar before = at_once ? substitute(dot_.init->value, values_) : load(result, element());
    const auto* literal = before.as<FloatLiteral>();
    const Scalar value = literal && literal->value == 0 ? sum : before + sum;
    return in_loops(rows, make_stmt(Store{result, element(), value}, span()));
  }

  const Dot& dot_;
  const DType index_, dtype_;
  std::int64_t rows_ = 1;
  ScalarVar row_loop_ = variable("row_0");
  ScalarMap values_;  // of the axes, at the point that is being written
};

}  // namespace

std::optional<Stmt> sum_in_lanes(const Stmt& stmt, RangeProver& prover, const Target& target,
                                 Accumulators& accumulators) {
  auto found = perfect_nest(stmt);
  if (!found || !find_stored_axes(*found, false, true)) return std::nullopt;
  const Nest& nest = *found;
  const DType dtype = nest.store->buffer.dtype();
  const bool starts = nest.block && nest.block->init.defined();
  const Store* init = starts ? matching_init(nest) : nullptr;
  const auto update = as_update(*nest.store);
  if ((starts && !init) || !update || update->op != BinaryOp::Add || !update->addend.as<Binary>() ||
      update->addend.as<Binary>()->op != BinaryOp::Mul || accumulators.contains(nest.store->buffer.id()) ||
      (dtype != DType::Float32 && dtype != DType::Float64))
    return std::nullopt;
  std::vector<Access> loads;
  collect_loads(update->addend, loads);
  for (const Access& load : loads)
    if (*load.buffer == nest.store->buffer) return std::nullopt;

  Dot dot{nest, init, update->addend, {}, {}, nullptr};
  for (const Axis& axis : nest.axes) {
    const bool ordered =
        axis.iter && axis.iter->kind != IterKind::Spatial && axis.iter->kind != IterKind::Reduce;
    if ((axis.loop->kind != LoopKind::Serial && axis.loop->kind != LoopKind::Parallel) || ordered ||
        !axis.loop->annotations.empty() || axis.loop->var.dtype() != nest.axes.front().loop->var.dtype())
      return std::nullopt;
    for (const Axis& other : nest.axes)
      if (prover.depends_on(axis.loop->extent, other.loop->var)) return std::nullopt;
    if (axis.stored) {
      dot.stored.push_back(&axis);
    } else {
      if (dot.summed) dot.outer.push_back(dot.summed);
      dot.summed = &axis;
    }
  }
  if (!dot.summed || dot.summed->loop->extent.as_int().value_or(least_terms) < least_terms ||
      product_of_extents(dot.outer) > most_parts)
    return std::nullopt;
  enter(nest, prover);
  const bool fits = prover.depends_on(dot.addend, dot.summed->loop->var) &&
                    computed_by_lanes(dot.addend, *dot.summed, dtype, prover) &&
                    !may_fault(nest, init, prover);
  leave(nest, prover);
  if (!fits) return std::nullopt;
  return DotWriter(dot, target).write(accumulators);
}

}  // namespace relish

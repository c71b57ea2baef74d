// The row by vectors.
#include "schedule/nests/row_sums.h"

#include <algorithm>
#include <functional>

#include "loops/accesses.h"
#include "schedule/nests/lanes.h"

namespace relish {
namespace {

class RowWriter {
 public:
  RowWriter(const Nest& nest, const Axis& row, std::int64_t lanes)
      : nest_(nest), row_(row), length_(*row.loop->extent.as_int()), lanes_(std::min(lanes, length_)) {
    for (const Axis& axis : nest.axes)
      if (&axis != &row) values_.insert_or_assign(axis.var.id(), use(axis.loop->var));
  }

  RowSums write(const Update& update, const Store* init) {
    const Buffer& result = nest_.store->buffer;
    const Buffer sums("sums", result.dtype(), {number(length_)}, "local");
    const auto element = [&] {
      std::vector<Scalar> at;
      for (const Scalar& index : nest_.store->indices) at.push_back(substitute(index, values_));
      return at;
    };
    return {sums, over_row([&](const Scalar& place) {
              const Scalar first = init ? substitute(init->value, values_) : load(result, element());
              return stored(sums, {place}, first);
            }),
            over_row([&](const Scalar& place) {
              return stored(sums, {place}, load(sums, {place}) + substitute(update.addend, values_));
            }),
            over_row([&](const Scalar& place) { return stored(result, element(), load(sums, {place})); })};
  }

 private:
  using AtPlace = std::function<Stmt(const Scalar& place)>;

  Span span() const { return nest_.store_stmt->span; }
  Scalar number(std::int64_t value) const { return int_literal(row_.loop->var.dtype(), value); }
  ScalarVar variable(const char* name) const { return {name, row_.loop->var.dtype(), span()}; }
  Stmt stored(const Buffer& buffer, std::vector<Scalar> at, const Scalar& value) const {
    return make_stmt(Store{buffer, std::move(at), value}, span());
  }
  Stmt loop(const ScalarVar& var, std::int64_t extent, LoopKind kind, Stmt body) const {
    return make_stmt(For{var, number(0), number(extent), kind, std::move(body), {}}, span());
  }

  // Whole vectors, and the elements behind them.
  Stmt over_row(const AtPlace& at) {
    const std::int64_t vectors = length_ / lanes_, rest = length_ % lanes_;
    std::vector<Stmt> parts;
    const ScalarVar vector = variable("vector"), lane = variable("lane");
    const Scalar in_vectors = use(vector) * number(lanes_) + use(lane);
    parts.push_back(loop(vector, vectors, LoopKind::Unrolled,
                         loop(lane, lanes_, LoopKind::Vectorized, at_place(in_vectors, at))));
    if (rest > 0) {
      const ScalarVar last = variable("lane");
      parts.push_back(
          loop(last, rest, LoopKind::Vectorized, at_place(number(vectors * lanes_) + use(last), at)));
    }
    return seq(std::move(parts), span());
  }
  Stmt at_place(const Scalar& place, const AtPlace& at) {
    values_.insert_or_assign(row_.var.id(), place);
    values_.insert_or_assign(row_.loop->var.id(), place);
    return at(place);
  }

  const Nest& nest_;
  const Axis& row_;
  const std::int64_t length_, lanes_;
  ScalarMap values_;  // of the axes, at the place that is being written
};

}  // namespace

std::optional<RowSums> sums_in_registers(const Nest& nest, const Update& update, const Store* init,
                                         const Axis& row, const Target& target, RangeProver& prover) {
  const DType dtype = nest.store->buffer.dtype();
  const auto length = row.loop->extent.as_int();
  if (update.op != BinaryOp::Add || (dtype != DType::Float32 && dtype != DType::Float64) || !length ||
      *length < 1 || !row.loop->annotations.empty())
    return std::nullopt;
  const std::int64_t lanes =
      std::max<std::int64_t>(1, target.vector_bytes / static_cast<std::int64_t>(size_of(dtype)));
  if ((*length + lanes - 1) / lanes > target.vector_registers / 2) return std::nullopt;
  std::vector<Access> loads;
  collect_loads(update.addend, loads);
  if (init) collect_loads(init->value, loads);
  for (const Access& read : loads)
    if (*read.buffer == nest.store->buffer) return std::nullopt;
  enter(nest, prover);
  const bool fits = pace_of(nest.store->buffer, nest.store->indices, row.loop->var, prover) == Pace::Along &&
                    computed_by_lanes(update.addend, row, dtype, prover) &&
                    (!init || computed_by_lanes(init->value, row, dtype, prover));
  leave(nest, prover);
  if (!fits) return std::nullopt;
  return RowWriter(nest, row, lanes).write(update, init);
}

}  // namespace relish

// Resampling as loops: the same sums as the evaluation's, as scalars; coordinates are computed in float64.
// Which cells of the data a cell of the result reads along a dimension, and with what weights, depends on its
// place in that dimension alone: where it takes more than a product it is computed once, into a table for
// each dimension.
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/windows/resampling_attributes.h"

namespace relish::resampling {
namespace {

struct LoweredCell {
  Scalar source, weight;  // weight undefined: 1
  Scalar counts;          // condition; undefined: always
};

Scalar real(double value) { return float_literal(DType::Float64, value); }

class Nest {
 public:
  Nest(const LowerCall& call, const Member& member)
      : member_(member), sampling_(sampling_of(call.call, member)), lowering_(call) {
    source_ = lowering_.input(0);
    result_ = lowering_.output();
    const Buffer& data = member.backward ? result_ : source_;
    const Buffer& out = member.backward ? source_ : result_;
    x_ = sampling_.data.ordered(data.shape());
    y_ = sampling_.out.ordered(out.shape());
    const std::string_view name = short_name_of(call.call.op);
    for (std::size_t i = 0; i < 2; ++i)
      lowering_.require_equal(x_[i], y_[i], fmt::format("{}: batches or channels differ", name));
    for (std::size_t i = 2; i < x_.size(); ++i) {
      if (x_[i].as_int().value_or(0) > 0 || y_[i].as_int() == 0) continue;
      lowering_.require(
          logical(LogicalOp::Or, x_[i] > Scalar(0), equal(y_[i], Scalar(0))),
          fmt::format("{}: a spatial dimension of the data is 0 and the result has cells", name));
    }
    for (std::size_t d = 0; d < static_cast<std::size_t>(sampling_.rank); ++d) {
      switch (sampling_.method) {
        case Method::Nearest:
          taps_.emplace_back(1);
          break;
        case Method::Linear:
          taps_.emplace_back(2);
          break;
        case Method::Cubic:
          taps_.emplace_back(4);
          break;
        case Method::Average: {
          // No window is longer than this; 1 for a result without cells, whose size must not divide.
          const Scalar size = y_[2 + d].as_int() == 0 ? Scalar(1)
                              : y_[2 + d].as_int()    ? y_[2 + d]
                                                      : max(y_[2 + d], Scalar(1));
          taps_.push_back(canonical(floor_div(x_[2 + d] + size - Scalar(1), size) + Scalar(1)));
          break;
        }
      }
    }
  }

  PrimFunc build() {
    if (!member_.backward && sampling_.method == Method::Nearest) {
      move();
    } else {
      if (sampling_.method == Method::Linear || sampling_.method == Method::Cubic) tabulate();
      if (member_.backward)
        scatter();
      else
        gather();
    }
    return lowering_.finish();
  }

 private:
  DType wide() const { return compute_dtype(result_.dtype()); }

  Scalar position_of(std::size_t d, const Scalar& p) const {
    Scalar at = cast(DType::Float64, p);
    const Scalar from = cast(DType::Float64, x_[2 + d]), to = cast(DType::Float64, y_[2 + d]);
    const auto centre = [&] { return (real(2) * at + real(1)) * from / (real(2) * to); };
    const auto if_many = [&](const Scalar& many, const Scalar& one) {
      return if_then_else(y_[2 + d] > Scalar(1), many, one);
    };
    switch (sampling_.coordinates) {
      case Coordinates::HalfPixel:
        return centre() - real(0.5);
      case Coordinates::PytorchHalfPixel:
        return if_many(centre() - real(0.5), real(0));
      case Coordinates::HalfPixelForNearest:
        return centre();
      case Coordinates::Asymmetric:
        return at * from / to;
      case Coordinates::AlignCorners:
        return if_many(at * (from - real(1)) / (to - real(1)), real(0));
      case Coordinates::Crop: {
        const double start = sampling_.start[d], end = sampling_.end[d];
        return if_many(
            real(start) * (from - real(1)) + at * real(end - start) * (from - real(1)) / (to - real(1)),
            real(0.5 * (start + end)) * (from - real(1)));
      }
    }
    return at;
  }

  Scalar rounded_position(const Scalar& at) const {
    switch (sampling_.rounding) {
      case Rounding::Even:
        return intrinsic(Intrinsic::Round, {at});
      case Rounding::Floor:
        return intrinsic(Intrinsic::Floor, {at});
      case Rounding::Ceil:
        return intrinsic(Intrinsic::Ceil, {at});
      case Rounding::HalfDown:
        return intrinsic(Intrinsic::Ceil, {at - real(0.5)});
      case Rounding::HalfUp:
        return intrinsic(Intrinsic::Floor, {at + real(0.5)});
    }
    return at;
  }

  Scalar clamped(std::size_t d, const Scalar& q) const {
    return max(min(cast(DType::Int64, q), x_[2 + d] - Scalar(1)), Scalar(0));
  }

  // Keys' kernel at the distance of tap k from a position t behind its floor.
  Scalar cubic_weight(const Scalar& k, const Scalar& t) const {
    const double a = sampling_.alpha;
    const Scalar distance = intrinsic(Intrinsic::Abs, {t - (cast(DType::Float64, k) - real(1))});
    const Scalar near = ((real(a + 2) * distance - real(a + 3)) * distance * distance + real(1));
    const Scalar far = ((real(a) * distance - real(5 * a)) * distance + real(8 * a)) * distance - real(4 * a);
    return select(compare(CompareOp::Le, distance, real(1)), near, far);
  }

  LoweredCell cell(std::size_t d, const Scalar& p, const Scalar& k) const {
    const Scalar& in = x_[2 + d];
    const Scalar& out = y_[2 + d];
    if (sampling_.method == Method::Average) {
      const Scalar start = floor_div(p * in, out);
      const Scalar end = floor_div((p + Scalar(1)) * in + out - Scalar(1), out);
      return {start + k, real(1) / cast(DType::Float64, end - start), start + k < end};
    }
    const Scalar at = position_of(d, p), floor = intrinsic(Intrinsic::Floor, {at});
    LoweredCell result;
    if (sampling_.coordinates == Coordinates::Crop) {
      result.counts = logical(LogicalOp::And, compare(CompareOp::Ge, at, real(0)),
                              compare(CompareOp::Le, at, cast(DType::Float64, in - Scalar(1))));
    }
    if (sampling_.method == Method::Nearest) {
      result.source = clamped(d, rounded_position(at));
      return result;
    }
    const Scalar t = at - floor;
    if (sampling_.method == Method::Linear) {
      result.source = clamped(d, floor + cast(DType::Float64, k));
      result.weight = select(equal(k, Scalar(0)), real(1) - t, t);
      return result;
    }
    const auto inside = [&](const Scalar& tap) {
      const Scalar q = floor - real(1) + cast(DType::Float64, tap);
      return logical(LogicalOp::And, compare(CompareOp::Ge, q, real(0)),
                     compare(CompareOp::Le, q, cast(DType::Float64, in - Scalar(1))));
    };
    result.source = clamped(d, floor - real(1) + cast(DType::Float64, k));
    result.weight = cubic_weight(k, t);
    if (sampling_.exclude) {
      Scalar sum = real(0);
      for (int tap = 0; tap < 4; ++tap)
        sum = sum + select(inside(Scalar(tap)), cubic_weight(Scalar(tap), t), real(0));
      result.weight = select(inside(k), result.weight, real(0)) / sum;
    }
    return result;
  }

  struct Table {
    Buffer source, weight;
  };
  void tabulate() {
    std::vector<Table> tables;
    for (std::size_t d = 0; d < taps_.size(); ++d) {
      const Dims extents{y_[2 + d], taps_[d]};
      const Table table{lowering_.temporary("cells", extents, DType::Int64),
                        lowering_.temporary("weights", extents, DType::Float64)};
      lowering_.map("cells", table.source, [&](const Dims& i) { return cell(d, i[0], i[1]).source; });
      lowering_.map("weights", table.weight, [&](const Dims& i) { return cell(d, i[0], i[1]).weight; });
      tables.push_back(table);
    }
    tables_ = std::move(tables);
  }

  LoweredCell cell_of(std::size_t d, const Scalar& p, const Scalar& k) {
    LoweredCell found = cell(d, p, k);
    if (tables_.empty()) return found;
    // Of what a table holds nothing is known: the bounds are told again, so that no read is checked.
    const Scalar source = lowering_.loops().load(tables_[d].source, {p, k});
    found.source = max(min(source, x_[2 + d] - Scalar(1)), Scalar(0));
    found.weight = lowering_.loops().load(tables_[d].weight, {p, k});
    return found;
  }

  // Index of the data, weight and condition of tap k of cell p of the result.
  Dims data_index(const Dims& p, const Dims& k, Scalar& weight, std::vector<Scalar>& conditions) {
    Dims index = {p[0], p[1]};
    for (std::size_t d = 0; d < k.size(); ++d) {
      const LoweredCell found = cell_of(d, p[2 + d], k[d]);
      index.push_back(found.source);
      if (found.counts.defined()) conditions.push_back(found.counts);
      if (found.weight.defined()) weight = weight.defined() ? weight * found.weight : found.weight;
    }
    return sampling_.data.stored_index(index);
  }

  Scalar extrapolated(const Scalar& inside, const Scalar& value) const {
    if (!inside.defined()) return value;
    const Scalar outside = is_float(value.dtype()) ? float_literal(value.dtype(), sampling_.extrapolation)
                                                   : cast(value.dtype(), real(sampling_.extrapolation));
    return if_then_else(inside, value, outside);
  }

  void move() {
    lowering_.map("nearest", result_, [&](const Dims& s) {
      Scalar weight;
      std::vector<Scalar> conditions;
      const Dims index =
          data_index(sampling_.out.ordered_index(s), Dims(taps_.size(), Scalar(0)), weight, conditions);
      return extrapolated(windows::all_of(conditions), lowering_.loops().load(source_, index));
    });
  }

  void gather() {
    const DType sums = is_float(result_.dtype()) ? wide() : compute_dtype(source_.dtype());
    const Buffer total = sums == result_.dtype() && sampling_.coordinates != Coordinates::Crop
                             ? result_
                             : lowering_.temporary("total", result_.shape(), sums);
    lowering_.reduce("resample", total, result_.shape(), taps_, [&](const Dims& s, const Dims& r) {
      Scalar weight;
      std::vector<Scalar> conditions;
      const Dims index = data_index(sampling_.out.ordered_index(s), r, weight, conditions);
      return windows::guarded(windows::all_of(conditions),
                              cast(sums, weight) * lowering_.load_as(sums, source_, index));
    });
    if (total == result_) return;
    lowering_.map("round", result_, [&](const Dims& s) {
      Scalar weight;
      std::vector<Scalar> conditions;
      if (sampling_.coordinates == Coordinates::Crop)
        data_index(sampling_.out.ordered_index(s), Dims(taps_.size(), Scalar(0)), weight, conditions);
      return extrapolated(windows::all_of(conditions), lowering_.loops().load(total, s));
    });
  }

  // For every batch and channel, cell by cell: several may add to the same one of the data.
  void scatter() {
    LoopBuilder& loops = lowering_.loops();
    const Buffer total =
        wide() == result_.dtype() ? result_ : lowering_.temporary("total", result_.shape(), wide());
    lowering_.map("clear", total, [&](const Dims&) { return zero(wide()); });
    Dims reduce(y_.begin() + 2, y_.end());
    const std::size_t rank = reduce.size();
    reduce.insert(reduce.end(), taps_.begin(), taps_.end());
    loops.spatial_reduce("scatter", {x_[0], x_[1]}, reduce, [&](const Dims& s, const Dims& r) {
      Dims p = s;
      p.insert(p.end(), r.begin(), r.begin() + static_cast<std::ptrdiff_t>(rank));
      const Dims k(r.begin() + static_cast<std::ptrdiff_t>(rank), r.end());
      Scalar weight;
      std::vector<Scalar> conditions;
      const Dims index = data_index(p, k, weight, conditions);
      Scalar term = lowering_.load_as(wide(), source_, sampling_.out.stored_index(p));
      if (weight.defined()) term = cast(wide(), weight) * term;
      const Stmt add = loops.store(total, index, loops.load(total, index) + term);
      const Scalar condition = windows::all_of(conditions);
      return condition.defined() ? make_stmt(IfStmt{condition, add, {}}, {}) : add;
    });
    if (!(total == result_))
      lowering_.map("round", result_, [&](const Dims& i) { return loops.load(total, i); });
  }

  const Member& member_;
  Sampling sampling_;
  Lowering lowering_;
  Buffer source_, result_;
  Dims x_, y_, taps_;
  std::vector<Table> tables_;  // by dimension; empty: cells are computed where they are read
};

}  // namespace

PrimFunc lower(const LowerCall& call, const Member& member) { return Nest(call, member).build(); }

}  // namespace relish::resampling

// Sampling at the points of a grid.
#include "stdlib/families/windows/grid_sampling.h"

#include <array>
#include <cmath>

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/language/lowering.h"

namespace relish::grid_sampling {
namespace {

using windows::Layout;

enum class Method : std::uint8_t { Nearest, Linear, Cubic };
enum class Outside : std::uint8_t { Zeros, Border, Reflection };

struct Sampling {
  int rank;
  Layout data;
  Method method;
  Outside outside;
  bool align;
  windows::Sizes order;  // of the derivative along each spatial dimension

  // Cells along one dimension that a point reads.
  std::int64_t taps() const { return method == Method::Nearest ? 1 : method == Method::Linear ? 2 : 4; }
};

Sampling sampling_of(const CallView& call, const Member& member) {
  const std::size_t letters = call.string_attribute("layout").size();
  const int rank = static_cast<int>(letters) - 2;
  if (rank != 2 && rank != 3)
    call.reject("layout", call.span, fmt::format("layout has {} letters, expected 4 or 5", letters));
  const Layout layout(call, "layout", "NC" + std::string(windows::spatial_letters(rank)));
  const std::string method = call.string_attribute("method"), outside = call.string_attribute("padding_mode");
  Sampling sampling{rank,
                    layout,
                    Method::Linear,
                    Outside::Zeros,
                    call.int_attribute("align_corners") != 0,
                    windows::Sizes(static_cast<std::size_t>(rank), 0)};
  if (method == "nearest") {
    sampling.method = Method::Nearest;
  } else if (method == "bicubic" && rank == 2) {
    sampling.method = Method::Cubic;
  } else if (method != "bilinear" && !(method == "trilinear" && rank == 3)) {
    call.reject("method", call.span,
                fmt::format("method is \"{}\", expected nearest, bilinear{}", method,
                            rank == 2 ? " or bicubic" : " or trilinear"));
  }
  if (outside == "border") {
    sampling.outside = Outside::Border;
  } else if (outside == "reflection") {
    sampling.outside = Outside::Reflection;
  } else if (outside != "zeros") {
    call.reject("padding_mode", call.span,
                fmt::format("padding_mode is \"{}\", expected zeros, border or reflection", outside));
  }
  if (member.ordered) sampling.order = windows::sizes(call, "order", rank, 0);
  // All derivatives above the third are the same: zero.
  for (std::int64_t& order : sampling.order) order = std::min<std::int64_t>(order, 4);
  return sampling;
}

// The attributes with another order.
Attributes attributes_of(const CallView& call, const windows::Sizes& order) {
  return {{"method", call.attribute("method")},
          {"layout", call.attribute("layout")},
          {"padding_mode", call.attribute("padding_mode")},
          {"align_corners", call.attribute("align_corners")},
          {"order", attribute_of(order)}};
}

}  // namespace

Type infer(const CallView& call, const Member& member) {
  require_float(call, 0);
  require_float(call, 1);
  const Sampling sampling = sampling_of(call, member);
  const std::optional<DType> dtype = common_dtype(call, 0, 1);
  const std::optional<Dims> first = sampling.data.dims(call, 0);
  const BroadcastShape grid = shape_of(call.tensor(1));
  const int rank = sampling.rank + 2;
  if (grid.rank >= 0 && grid.rank != rank) {
    call.reject("rank", call.span_of(1), fmt::format("grid has rank {}, expected {}", grid.rank, rank));
  }
  if (grid.dims && prove_different((*grid.dims)[1], Scalar(sampling.rank))) {
    call.reject("grid", call.span_of(1),
                fmt::format("grid has {} coordinates for a point, expected {}", print((*grid.dims)[1]),
                            sampling.rank));
  }
  const auto require_equal = [&](const Scalar& a, const Scalar& b, std::string_view what) {
    if (!prove_different(a, b)) return;
    call.reject("shape", call.span, fmt::format("{} differ: {} and {}", what, print(a), print(b)));
  };
  if (first && grid.dims) require_equal((*first)[0], (*grid.dims)[0], "the batches of data and grid");
  if (!member.transposed) {
    if (!first || !grid.dims) return TensorType{dtype, std::nullopt, rank};
    Dims dims = {(*first)[0], (*first)[1]};
    dims.insert(dims.end(), grid.dims->begin() + 2, grid.dims->end());
    return TensorType{dtype, sampling.data.stored(call, dims), rank};
  }
  const BroadcastShape shape = shape_argument(call, 2);
  if (shape.rank >= 0 && shape.rank != rank) {
    call.reject("rank", call.span_of(2), fmt::format("the shape has rank {}, expected {}", shape.rank, rank));
  }
  if (shape.dims && first) {
    const Dims x = sampling.data.ordered(*shape.dims);
    require_equal((*first)[0], x[0], "the batches of output_grad and data");
    require_equal((*first)[1], x[1], "the channels of output_grad and data");
  }
  for (std::size_t i = 2; first && grid.dims && i < first->size(); ++i)
    require_equal((*first)[i], (*grid.dims)[i], "the points of output_grad and grid");
  return tensor_of(shape, dtype);
}

// --- Evaluation.

namespace {

// A point along one dimension in cells, and the slope of that by the grid's coordinate.
struct Point {
  double at, slope;
};

Point point_of(const Sampling& sampling, double grid, std::int64_t size) {
  const auto cells = static_cast<double>(size);
  Point point = sampling.align ? Point{(grid + 1) / 2 * (cells - 1), (cells - 1) / 2}
                               : Point{((grid + 1) * cells - 1) / 2, cells / 2};
  if (sampling.outside == Outside::Zeros || sampling.method == Method::Cubic) return point;
  if (sampling.outside == Outside::Reflection) {
    const double low = sampling.align ? 0 : -0.5, span = sampling.align ? cells - 1 : cells;
    if (span <= 0) return {0, 0};
    const double from = point.at - low;
    const double distance = std::abs(from), turns = std::floor(distance / span);
    const double rest = distance - turns * span;
    const bool odd = std::fmod(turns, 2) != 0;
    point.at = (odd ? span - rest : rest) + low;
    point.slope *= (from < 0) != odd ? -1 : 1;
  }
  if (point.at <= 0) return {0, 0};
  if (point.at >= cells - 1) return {cells - 1, 0};
  return point;
}

// Keys' kernel with the coefficient -3/4: coefficients of the cubes, squares, ... up to 1 from its centre,
// and beyond up to 2.
using Polynomial = std::array<double, 4>;
constexpr Polynomial near_kernel = {1.25, -2.25, 0, 1};
constexpr Polynomial far_kernel = {-0.75, 3.75, -6, 3};

Polynomial derivative(Polynomial p, std::int64_t order) {
  for (; order > 0; --order) p = {0, 3 * p[0], 2 * p[1], p[2]};
  return p;
}

double kernel_value(double x, std::int64_t order) {
  const double s = std::abs(x);
  if (s > 2) return 0;
  const Polynomial p = derivative(s <= 1 ? near_kernel : far_kernel, order);
  const double value = ((p[0] * s + p[1]) * s + p[2]) * s + p[3];
  return order % 2 == 1 && x < 0 ? -value : value;
}

// The cell that stands for `q` outside of the data; -1 for none.
std::int64_t cell_of(const Sampling& sampling, double q, std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  if (q >= 0 && q <= last) return static_cast<std::int64_t>(q);
  if (size == 0 || sampling.method != Method::Cubic || sampling.outside == Outside::Zeros ||
      !std::isfinite(q))
    return -1;
  if (sampling.outside == Outside::Border) return q < 0 ? 0 : size - 1;
  const double low = sampling.align ? 0 : -0.5, span = sampling.align ? last : last + 1;
  if (span <= 0) return 0;
  const double distance = std::abs(q - low), turns = std::floor(distance / span);
  const double rest = distance - turns * span;
  const double back = (std::fmod(turns, 2) != 0 ? span - rest : rest) + low;
  return static_cast<std::int64_t>(std::min(std::max(back, 0.0), last));
}

struct Tap {
  std::int64_t cell;
  double weight;
};

std::vector<Tap> taps_of(const Sampling& sampling, std::size_t d, double grid, std::int64_t size) {
  std::vector<Tap> taps;
  const std::int64_t order = sampling.order[d];
  const Point point = point_of(sampling, grid, size);
  const auto add = [&](double q, double weight) {
    const std::int64_t cell = cell_of(sampling, q, size);
    if (cell >= 0) taps.push_back({cell, weight * std::pow(point.slope, static_cast<double>(order))});
  };
  const double floor = std::floor(point.at), t = point.at - floor;
  switch (sampling.method) {
    case Method::Nearest:
      if (order == 0) add(std::nearbyint(point.at), 1);
      break;
    case Method::Linear:
      if (order > 1) break;
      add(floor, order == 0 ? 1 - t : -1);
      add(floor + 1, order == 0 ? t : 1);
      break;
    case Method::Cubic:
      for (int k = -1; k <= 2; ++k) add(floor + k, kernel_value(t - k, order));
      break;
  }
  return taps;
}

}  // namespace

Value evaluate(const EvalCall& c, const Member& member) {
  const Sampling sampling = sampling_of(c.call, member);
  const Tensor &first = c.in(0), &grid = c.in(1);
  const Shape shape = result_shape(c);
  const Shape& x_shape = member.transposed ? shape : first.shape();
  const Shape& y_shape = member.transposed ? first.shape() : shape;
  const Shape x = sampling.data.ordered(x_shape), y = sampling.data.ordered(y_shape);
  const windows::Steps x_strides = sampling.data.steps(x_shape), y_strides = sampling.data.steps(y_shape);
  const Shape grid_strides = row_major_strides(grid.shape());
  const auto rank = static_cast<std::size_t>(sampling.rank);
  Tensor result = Tensor::zeros(DType::Float64, shape);
  const std::span<double> totals = result.mutable_view<double>();
  windows::for_each_index(y, [&](const Shape& p) {
    std::vector<std::vector<Tap>> taps;
    Shape counts;
    for (std::size_t d = 0; d < rank; ++d) {
      Shape at = p;
      at[1] = static_cast<std::int64_t>(rank - 1 - d);  // the grid counts dimensions from the last
      taps.push_back(taps_of(sampling, d, grid.get_double(windows::offset(grid_strides, at)), x[2 + d]));
      counts.push_back(static_cast<std::int64_t>(taps.back().size()));
    }
    const std::int64_t at_y = windows::offset(y_strides, p);
    windows::for_each_index(counts, [&](const Shape& k) {
      double weight = 1;
      std::int64_t at_x = p[0] * x_strides[0] + p[1] * x_strides[1];
      for (std::size_t d = 0; d < rank; ++d) {
        const Tap& tap = taps[d][static_cast<std::size_t>(k[d])];
        weight *= tap.weight;
        at_x += tap.cell * x_strides[2 + d];
      }
      const std::int64_t from = member.transposed ? at_y : at_x, to = member.transposed ? at_x : at_y;
      totals[static_cast<std::size_t>(to)] += weight * first.get_double(from);
    });
  });
  return convert_tensor(result, first.dtype());
}

// --- Lowering: coordinates and weights in float64.

namespace {

Scalar real(double value) { return float_literal(DType::Float64, value); }
Scalar floor_of(const Scalar& x) { return intrinsic(Intrinsic::Floor, {x}); }

class Nest {
 public:
  Nest(const LowerCall& call, const Member& member)
      : member_(member), sampling_(sampling_of(call.call, member)), lowering_(call) {
    first_ = lowering_.input(0);
    grid_ = lowering_.input(1);
    result_ = lowering_.output();
    x_ = sampling_.data.ordered(member.transposed ? result_.shape() : first_.shape());
    y_ = sampling_.data.ordered(member.transposed ? first_.shape() : result_.shape());
    const std::string_view name = short_name_of(call.call.op);
    lowering_.require_equal(grid_.shape()[1], Scalar(sampling_.rank),
                            fmt::format("{}: grid needs {} coordinates for a point", name, sampling_.rank));
    lowering_.require_equal(x_[0], grid_.shape()[0], fmt::format("{}: batches differ", name));
    lowering_.require_equal(x_[0], y_[0], fmt::format("{}: batches differ", name));
    lowering_.require_equal(x_[1], y_[1], fmt::format("{}: channels differ", name));
    for (std::size_t i = 2; i < y_.size(); ++i)
      lowering_.require_equal(y_[i], grid_.shape()[i], fmt::format("{}: points differ", name));
  }

  PrimFunc build() {
    LoopBuilder& loops = lowering_.loops();
    // Terms of derivatives cancel, so they are summed in float64, as the weights are.
    const DType wide = DType::Float64;
    const auto rank = static_cast<std::size_t>(sampling_.rank);
    const Buffer total =
        wide == result_.dtype() ? result_ : lowering_.temporary("total", result_.shape(), wide);
    const Dims taps(rank, Scalar(sampling_.taps()));
    if (!member_.transposed) {
      lowering_.reduce("sample", total, result_.shape(), taps, [&](const Dims& s, const Dims& r) {
        const Term term = term_of(sampling_.data.ordered_index(s), r);
        return windows::guarded(term.condition, term.weight * lowering_.load_as(wide, first_, term.index));
      });
    } else {
      lowering_.map("clear", total, [&](const Dims&) { return zero(wide); });
      Dims reduce(y_.begin() + 2, y_.end());
      reduce.insert(reduce.end(), taps.begin(), taps.end());
      loops.spatial_reduce("scatter", {x_[0], x_[1]}, reduce, [&](const Dims& s, const Dims& r) {
        Dims p = s;
        p.insert(p.end(), r.begin(), r.begin() + sampling_.rank);
        const Term term = term_of(p, Dims(r.begin() + sampling_.rank, r.end()));
        const Scalar value = term.weight * lowering_.load_as(wide, first_, sampling_.data.stored_index(p));
        const Stmt add = loops.store(total, term.index, loops.load(total, term.index) + value);
        return make_stmt(IfStmt{term.condition, add, {}}, {});
      });
    }
    if (!(total == result_))
      lowering_.map("round", result_, [&](const Dims& i) { return loops.load(total, i); });
    return lowering_.finish();
  }

 private:
  struct Term {
    Dims index;  // of the data
    Scalar weight, condition;
  };

  struct LoweredPoint {
    Scalar at, slope;
  };

  // The distance from `low` folded into [0, span], and whether it was mirrored an odd number of times.
  struct Folded {
    Scalar at, odd;
  };
  static Folded folded(const Scalar& distance, const Scalar& span) {
    const Scalar safe = select(span > real(0), span, real(1));
    const Scalar turns = floor_of(distance / safe);
    const Scalar rest = distance - turns * safe;
    const Scalar odd = equal(turns - real(2) * floor_of(turns / real(2)), real(1));
    return {select(odd, safe - rest, rest), odd};
  }
  Scalar low() const { return real(sampling_.align ? 0 : -0.5); }
  Scalar span(const Scalar& cells) const { return sampling_.align ? cells - real(1) : cells; }

  LoweredPoint point(const Scalar& grid, const Scalar& size) const {
    const Scalar cells = cast(DType::Float64, size), last = cells - real(1);
    LoweredPoint result = sampling_.align
                              ? LoweredPoint{(grid + real(1)) / real(2) * last, last / real(2)}
                              : LoweredPoint{((grid + real(1)) * cells - real(1)) / real(2), cells / real(2)};
    if (sampling_.outside == Outside::Zeros || sampling_.method == Method::Cubic) return result;
    if (sampling_.outside == Outside::Reflection) {
      const Scalar from = result.at - low();
      const Folded fold = folded(intrinsic(Intrinsic::Abs, {from}), span(cells));
      const Scalar mirrored =
          select(from < real(0), select(fold.odd, real(1), real(-1)), select(fold.odd, real(-1), real(1)));
      const Scalar some = span(cells) > real(0);
      result = {select(some, fold.at + low(), real(0)), select(some, result.slope * mirrored, real(0))};
    }
    const Scalar before = compare(CompareOp::Le, result.at, real(0)),
                 behind = compare(CompareOp::Ge, result.at, last);
    return {select(before, real(0), select(behind, last, result.at)),
            select(logical(LogicalOp::Or, before, behind), real(0), result.slope)};
  }

  // The value at tap `k` (0 to 3) of Keys' kernel for a point t behind its floor.
  static Scalar kernel(const Scalar& k, const Scalar& t, std::int64_t order) {
    const Scalar x = t - (cast(DType::Float64, k) - real(1));
    const Scalar s = intrinsic(Intrinsic::Abs, {x});
    const auto value = [&](const Polynomial& p) {
      return ((real(p[0]) * s + real(p[1])) * s + real(p[2])) * s + real(p[3]);
    };
    const Scalar result = select(compare(CompareOp::Le, s, real(1)), value(derivative(near_kernel, order)),
                                 value(derivative(far_kernel, order)));
    return order % 2 == 1 ? select(x < real(0), real(0) - result, result) : result;
  }

  Term term_of(const Dims& p, const Dims& k) const {
    Term term{{p[0], p[1]}, real(1), {}};
    const auto rank = static_cast<std::size_t>(sampling_.rank);
    for (std::size_t d = 0; d < rank; ++d) {
      Dims at = p;
      at[1] = Scalar(static_cast<std::int64_t>(rank - 1 - d));
      const Scalar& size = x_[2 + d];
      const LoweredPoint found = point(lowering_.load_as(DType::Float64, grid_, at), size);
      const std::int64_t order = sampling_.order[d];
      const Scalar floor = floor_of(found.at), t = found.at - floor;
      const Scalar last = cast(DType::Float64, size - Scalar(1));
      Scalar q, weight = real(1);
      switch (sampling_.method) {
        case Method::Nearest:
          q = intrinsic(Intrinsic::Round, {found.at});
          weight = real(order == 0 ? 1 : 0);
          break;
        case Method::Linear:
          q = floor + cast(DType::Float64, k[d]);
          weight = order == 0   ? select(equal(k[d], Scalar(0)), real(1) - t, t)
                   : order == 1 ? select(equal(k[d], Scalar(0)), real(-1), real(1))
                                : real(0);
          break;
        case Method::Cubic:
          q = floor - real(1) + cast(DType::Float64, k[d]);
          weight = kernel(k[d], t, order);
          break;
      }
      for (std::int64_t i = 0; i < order; ++i) weight = weight * found.slope;
      Scalar inside =
          logical(LogicalOp::And, compare(CompareOp::Ge, q, real(0)), compare(CompareOp::Le, q, last));
      Scalar cell = q;
      if (sampling_.method == Method::Cubic && sampling_.outside != Outside::Zeros) {
        if (sampling_.outside == Outside::Reflection) {
          const Scalar cells = cast(DType::Float64, size);
          const Scalar back = folded(intrinsic(Intrinsic::Abs, {q - low()}), span(cells)).at + low();
          cell = select(inside, q, select(span(cells) > real(0), back, real(0)));
        }
        inside = logical(LogicalOp::And, intrinsic(Intrinsic::IsFinite, {q}), size > Scalar(0));
      }
      term.index.push_back(max(min(cast(DType::Int64, cell), size - Scalar(1)), Scalar(0)));
      term.weight = term.weight * weight;
      term.condition = term.condition.defined() ? logical(LogicalOp::And, term.condition, inside) : inside;
    }
    term.index = sampling_.data.stored_index(term.index);
    return term;
  }

  const Member& member_;
  Sampling sampling_;
  Lowering lowering_;
  Buffer first_, grid_, result_;
  Dims x_, y_;
};

}  // namespace

PrimFunc lower(const LowerCall& call, const Member& member) { return Nest(call, member).build(); }

// --- Gradient.

Partials vjp(const VjpCall& c, const Member& member) {
  const GradientRule rule(c);
  const Sampling sampling = sampling_of(c.call, member);
  const GraphValue g = rule.cotangent(), first = rule.argument(0), grid = rule.argument(1);
  const auto sampled = [&](const GraphValue& data, const windows::Sizes& order) {
    return call_op("grad.grid_sample_derivative", {data, grid}, attributes_of(c.call, order));
  };
  Partials partials(c.call.args.size());
  if (rule.differentiable(0)) {
    const GraphValue partial = member.transposed ? sampled(g, sampling.order)
                                                 : call_op("grad.grid_sample_data", {g, grid, rule.shape(0)},
                                                           attributes_of(c.call, sampling.order));
    partials[0] = partial.expr();
  }
  if (!rule.differentiable(1)) return partials;
  // For each coordinate the sum over channels of what flows times the sampling of one order more; the channel
  // axis becomes the grid's axis of coordinates.
  const GraphValue& flows = member.transposed ? first : g;
  const GraphValue& data = member.transposed ? g : first;
  const int channel = static_cast<int>(sampling.data.axis(1));
  std::vector<int> order;  // of the dimensions of a sample, as the grid has them
  for (std::size_t i = 0; i < static_cast<std::size_t>(sampling.rank) + 2; ++i)
    order.push_back(static_cast<int>(sampling.data.axis(i)));
  std::optional<GraphValue> total;
  const auto rank = static_cast<std::size_t>(sampling.rank);
  for (std::size_t d = 0; d < rank; ++d) {
    windows::Sizes steeper = sampling.order;
    ++steeper[d];
    GraphValue part = call_op("sum", {flows * sampled(data, steeper)},
                              {{"axis", axes_attribute({channel})}, {"keepdims", true}});
    part = call_op("permute_dims", {part}, {{"axes", axes_attribute(order)}});
    Shape shape(rank + 2, 1);
    shape[1] = sampling.rank;
    Tensor mark = Tensor::zeros(g.type().dtype.value_or(DType::Float32), shape);
    mark.set_double(static_cast<std::int64_t>(rank - 1 - d), 1);
    const GraphValue placed = part * GraphValue(constant(mark, c.builder.origin()), c.builder);
    total = total ? *total + placed : placed;
  }
  partials[1] = total->expr();
  return partials;
}

}  // namespace relish::grid_sampling

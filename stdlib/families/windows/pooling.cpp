// Pools over sliding windows.
#include "stdlib/families/windows/pooling.h"

#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/scalar_math.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"

namespace relish::pooling {
namespace {

using windows::Axis;
using windows::Layout;

// The argument that holds the pooled data.
std::size_t data_argument(Kind kind) { return kind == Kind::Max || kind == Kind::Average ? 0 : 1; }
// Whether the result has the windows' shape; else the data's.
bool gives_windows(Kind kind) { return kind != Kind::MaxBackward && kind != Kind::AverageBackward; }

// What the attributes say of one call; dims are in the order N, C, spatial.
struct Geometry {
  int rank;
  std::vector<Axis> axes;
  std::optional<windows::Sizes> kernel;  // absent: all of the data
  bool ceil, include;
  Layout data, out;

  // Cells of a window along spatial dimension `d` of data with these dims.
  Scalar cells(std::size_t d, const Dims& x) const { return kernel ? Scalar((*kernel)[d]) : x[2 + d]; }

  Scalar count(std::size_t d, const Dims& x) const {
    const Axis& axis = axes[d];
    Scalar floor = axis.count(x[2 + d], cells(d, x));
    if (!ceil || axis.stride == 1) return floor;
    Axis wider = axis;
    wider.after += axis.stride - 1;
    const Scalar starts = floor_div(x[2 + d] + Scalar(axis.before + axis.stride - 1), Scalar(axis.stride));
    return canonical(min(wider.count(x[2 + d], cells(d, x)), canonical(starts)));
  }
  Dims windows_of(const Dims& x) const {
    Dims dims = {x[0], x[1]};
    for (std::size_t d = 0; d < axes.size(); ++d) dims.push_back(count(d, x));
    return dims;
  }
  // Whether a window of this dimension can hold other cells than its own `kernel`.
  bool partial(std::size_t d) const {
    return axes[d].before > 0 || axes[d].after > 0 || (ceil && axes[d].stride > 1);
  }
};

Geometry geometry_of(const CallView& call, const Member& member) {
  const std::string layout = call.string_attribute("layout");
  int rank = member.rank;
  if (rank == 0) {
    rank = windows::letters_of(layout) - 2;
    if (rank < 1 || rank > 3) {
      call.reject("layout", call.span, fmt::format("layout has {} letters, expected 3, 4 or 5", rank + 2));
    }
  }
  const std::string order = "NC" + std::string(windows::spatial_letters(rank));
  constexpr windows::Blocks blocks = windows::Blocks::Allowed;
  const Layout data(call, "layout", order, nullptr, blocks), out(call, "out_layout", order, &data, blocks);
  if (member.global)
    return {rank, std::vector<Axis>(static_cast<std::size_t>(rank)), {}, false, true, data, out};
  std::optional<windows::Sizes> kernel;
  if (!call.attribute("pool_size").is_none()) kernel = windows::sizes(call, "pool_size", rank, 1);
  const auto flag = [&](std::string_view name) { return call.int_attribute(name) != 0; };
  return {rank, windows::axes(call, rank), kernel, flag("ceil_mode"), flag("count_include_pad"), data, out};
}

// The number of cells that divides the sum of window `p` along dimension d of extent `in`: those of data and
// padding, or of data alone.
Scalar divisor(const Geometry& geometry, std::size_t d, const Scalar& p, const Dims& x) {
  const Axis& axis = geometry.axes[d];
  const Scalar& in = x[2 + d];
  Scalar cells = geometry.cells(d, x);
  const Scalar start = axis.position(p, Scalar(0));
  if (geometry.include) {
    if (!geometry.ceil || axis.stride == 1) return cells;
    const Scalar last = min(start + (cells - Scalar(1)) * Scalar(axis.dilation), in + Scalar(axis.after - 1));
    return floor_div(last - start, Scalar(axis.dilation)) + Scalar(1);
  }
  if (!geometry.partial(d)) return cells;
  const Scalar below = floor_div(Scalar(axis.dilation - 1) - start, Scalar(axis.dilation));
  const Scalar above = floor_div(in - start + Scalar(axis.dilation - 1), Scalar(axis.dilation));
  return max(min(cells, above) - max(below, Scalar(0)), Scalar(0));
}

// The same for numbers, by counting.
std::int64_t counted(const Geometry& geometry, std::size_t d, std::int64_t p, const Shape& x) {
  const Axis& axis = geometry.axes[d];
  const std::int64_t cells = geometry.kernel ? (*geometry.kernel)[d] : x[2 + d];
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < cells; ++k) {
    const std::int64_t q = p * axis.stride - axis.before + k * axis.dilation;
    count += geometry.include ? q < x[2 + d] + axis.after : q >= 0 && q < x[2 + d];
  }
  return count;
}

}  // namespace

std::int64_t terms(const CallView& call, const Member& member) {
  const Geometry geometry = geometry_of(call, member);
  const Shape x = geometry.data.ordered(concrete_shape(call.tensor(data_argument(member.kind))));
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < geometry.axes.size(); ++d)
    cells *= geometry.kernel ? (*geometry.kernel)[d] : x[2 + d];
  return cells;
}

Type infer(const CallView& call, const Member& member) {
  const std::size_t argument = data_argument(member.kind);
  require_number(call, argument);
  std::optional<DType> dtype = call.tensor(argument).dtype;
  if (argument == 1) {
    require_float(call, 0);
    dtype = common_dtype(call, 0, 1);
  }
  const Geometry geometry = geometry_of(call, member);
  const std::optional<Dims> x = geometry.data.dims(call, argument);
  std::optional<Dims> y;
  if (x) {
    y = geometry.windows_of(*x);
    for (std::size_t d = 0; d < geometry.axes.size(); ++d) {
      if ((*y)[2 + d].as_int().value_or(1) >= 1) continue;
      const Scalar room = (*x)[2 + d] + Scalar(geometry.axes[d].before + geometry.axes[d].after);
      call.reject("pool_size", call.span,
                  fmt::format("spatial dimension {}: a window spans {} and the padded data {}", d,
                              print(geometry.axes[d].span(geometry.cells(d, *x))), print(canonical(room))));
    }
  }
  if (argument == 1) {
    // What stands first is shaped as the windows, for a selection as the data.
    const bool selects = member.kind == Kind::MaxSelect;
    const std::optional<Dims> first = (selects ? geometry.data : geometry.out).dims(call, 0);
    const std::optional<Dims>& wanted = selects ? x : y;
    for (std::size_t i = 0; first && wanted && i < first->size(); ++i) {
      if (!prove_different((*first)[i], (*wanted)[i])) continue;
      call.reject("shape", call.span_of(0),
                  fmt::format("{} has shape {}, expected {}", call.op.params[0].name, describe_dims(*first),
                              describe_dims(*wanted)));
    }
  }
  const std::optional<Dims>& dims = gives_windows(member.kind) ? y : x;
  const Layout& layout = gives_windows(member.kind) ? geometry.out : geometry.data;
  if (!dims) return TensorType{dtype, std::nullopt, layout.rank()};
  return TensorType{dtype, layout.stored(call, *dims), layout.rank()};
}

// --- Evaluation: window by window, with the list of its cells that lie in the data.

namespace {

// Calls window(at, divisor, cells): the window's offset, the divisor of its average, offsets of its cells.
template <class Window>
void for_each_window(const Geometry& geometry, const Shape& x, const Shape& y, Window&& window) {
  const Shape data = geometry.data.ordered(x), places = geometry.out.ordered(y);
  const windows::Steps data_strides = geometry.data.steps(x), strides = geometry.out.steps(y);
  const Shape kernel = geometry.kernel ? *geometry.kernel : Shape(data.begin() + 2, data.end());
  std::vector<std::int64_t> cells;
  windows::for_each_index(places, [&](const Shape& p) {
    cells.clear();
    std::int64_t divisor = 1;
    for (std::size_t d = 0; d < kernel.size(); ++d) divisor *= counted(geometry, d, p[2 + d], data);
    windows::for_each_index(kernel, [&](const Shape& k) {
      std::int64_t at = p[0] * data_strides[0] + p[1] * data_strides[1];
      for (std::size_t d = 0; d < k.size(); ++d) {
        const Axis& axis = geometry.axes[d];
        const std::int64_t q = p[2 + d] * axis.stride - axis.before + k[d] * axis.dilation;
        if (q < 0 || q >= data[2 + d]) return;
        at += q * data_strides[2 + d];
      }
      cells.push_back(at);
    });
    window(windows::offset(strides, p), std::max<std::int64_t>(divisor, 1), cells);
  });
}

template <class T>
bool is_nan(T value) {
  if constexpr (StorageFloat<T>)
    return std::isnan(static_cast<double>(to_compute(value)));
  else
    return false;
}

// The first largest of the cells; the first NaN when there is one. -1 for none.
template <class T>
std::int64_t first_largest(const T* data, const std::vector<std::int64_t>& cells) {
  std::int64_t best = -1;
  for (std::int64_t cell : cells) {
    if (best < 0 || (!is_nan(data[best]) && is_nan(data[cell])) ||
        to_compute(data[cell]) > to_compute(data[best])) {
      best = cell;
    }
  }
  return best;
}

template <class T>
T lowest() {
  if constexpr (StorageFloat<T>)
    return T(-std::numeric_limits<double>::infinity());
  else
    return std::numeric_limits<T>::min();
}

template <class T>
T largest_value(const T* data, const std::vector<std::int64_t>& cells) {
  Compute<T> best = to_compute(lowest<T>());
  for (std::int64_t cell : cells) best = maximum_ieee(best, to_compute(data[cell]));
  return from_compute<T>(best);
}

template <class T>
Sum<T> count_as_sum(std::int64_t count) {
  if constexpr (StorageFloat<T>)
    return static_cast<double>(count);
  else
    return Sum<T>(static_cast<decltype(Sum<T>::value)>(count));
}

}  // namespace

Value evaluate(const EvalCall& c, const Member& member) {
  const Geometry geometry = geometry_of(c.call, member);
  const Tensor& x = c.in(data_argument(member.kind));
  const Shape shape = result_shape(c);
  const Shape& windows_shape = gives_windows(member.kind) ? shape : c.in(0).shape();
  Tensor result = Tensor::zeros(x.dtype(), shape);
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* data = x.view<T>().data();
    const T* first = c.in(0).view<T>().data();
    T* target = result.mutable_view<T>().data();
    std::vector<Sum<T>> totals(gives_windows(member.kind) ? 0 : static_cast<std::size_t>(result.size()));
    Pace pace;
    for_each_window(geometry, x.shape(), windows_shape,
                    [&](std::int64_t at, std::int64_t divisor, const std::vector<std::int64_t>& cells) {
                      pace(static_cast<std::int64_t>(cells.size()));
                      switch (member.kind) {
                        case Kind::Max:
                          target[at] = largest_value(data, cells);
                          return;
                        case Kind::MaxSelect:
                          if (!cells.empty()) target[at] = first[first_largest(data, cells)];
                          return;
                        case Kind::MaxBackward:
                          if (!cells.empty()) {
                            Sum<T>& total = totals[static_cast<std::size_t>(first_largest(data, cells))];
                            total = total + to_sum(first[at]);
                          }
                          return;
                        case Kind::Average: {
                          Sum<T> total{};
                          for (std::int64_t cell : cells) total = total + to_sum(data[cell]);
                          target[at] = from_sum<T>(total / count_as_sum<T>(divisor));
                          return;
                        }
                        case Kind::AverageBackward:
                          for (std::int64_t cell : cells) {
                            Sum<T>& total = totals[static_cast<std::size_t>(cell)];
                            total = total + to_sum(first[at]) / count_as_sum<T>(divisor);
                          }
                          return;
                      }
                    });
    for (std::size_t i = 0; i < totals.size(); ++i) target[i] = from_sum<T>(totals[i]);
  });
  return result;
}

// --- Lowering.

namespace {

class Nest {
 public:
  Nest(const LowerCall& call, const Member& member)
      : member_(member), call_(call.call), geometry_(geometry_of(call.call, member)), lowering_(call) {
    const std::size_t argument = data_argument(member.kind);
    first_ = lowering_.input(0);
    data_ = argument == 0 ? first_ : lowering_.input(1);
    result_ = lowering_.output();
    x_ = geometry_.data.ordered(data_.shape());
    y_ = geometry_.windows_of(x_);
    const std::string_view name = short_name_of(call.call.op);
    for (std::size_t d = 0; d < geometry_.axes.size(); ++d) {
      if (y_[2 + d].as_int()) continue;
      lowering_.require(compare(CompareOp::Ge, y_[2 + d], Scalar(1)),
                        fmt::format("{}: there is no window in spatial dimension {}", name, d));
    }
    if (argument == 1) {
      const bool selects = member.kind == Kind::MaxSelect;
      const Dims have = (selects ? geometry_.data : geometry_.out).ordered(first_.shape());
      for (std::size_t i = 0; i < have.size(); ++i) {
        lowering_.require_equal(have[i], (selects ? x_ : y_)[i],
                                fmt::format("{}: dimension {} of {} does not fit the data", name, i,
                                            call.call.op.params[0].name));
      }
    }
    for (std::size_t d = 0; d < geometry_.axes.size(); ++d) kernel_.push_back(geometry_.cells(d, x_));
  }

  PrimFunc build() {
    switch (member_.kind) {
      case Kind::Max:
        maximum();
        break;
      case Kind::Average:
        average();
        break;
      case Kind::MaxSelect:
        find_choices();
        select_chosen();
        break;
      case Kind::MaxBackward:
        find_choices();
        gather([&](const Dims& p, const Dims& k) {
          return select(equal(lowering_.loops().load(choice_, geometry_.out.stored_index(p)), number(k)),
                        gradient_at(p), zero(wide()));
        });
        break;
      case Kind::AverageBackward:
        gather([&](const Dims& p, const Dims&) { return gradient_at(p) / cast(wide(), divisor_at(p)); });
        break;
    }
    return lowering_.finish();
  }

 private:
  DType wide() const { return compute_dtype(result_.dtype()); }

  // The data's index of cell k of window p, and when it lies in the data.
  Dims cell(const Dims& p, const Dims& k, std::vector<Scalar>& conditions) const {
    Dims index = {p[0], p[1]};
    for (std::size_t d = 0; d < k.size(); ++d) {
      const Scalar q = geometry_.axes[d].position(p[2 + d], k[d]);
      if (geometry_.axes[d].before > 0) conditions.push_back(compare(CompareOp::Ge, q, Scalar(0)));
      if (geometry_.partial(d)) conditions.push_back(q < x_[2 + d]);
      index.push_back(q);
    }
    return geometry_.data.stored_index(index);
  }

  // The number of cell k in its window, as choices count them.
  Scalar number(const Dims& k) const {
    Scalar result = k[0];
    for (std::size_t d = 1; d < k.size(); ++d) result = result * kernel_[d] + k[d];
    return cast(counts_cells(), result);
  }
  // Of 32 bits where these count the cells of every window: half the memory, and as wide as most data.
  DType counts_cells() const {
    std::int64_t cells = 1;
    for (const Scalar& each : kernel_)
      if (!each.as_int() || __builtin_mul_overflow(cells, *each.as_int(), &cells)) return DType::Int64;
    return cells <= INT32_MAX ? DType::Int32 : DType::Int64;
  }

  Scalar divisor_at(const Dims& p) const {
    Scalar result = divisor(geometry_, 0, p[2], x_);
    for (std::size_t d = 1; d < geometry_.axes.size(); ++d)
      result = result * divisor(geometry_, d, p[2 + d], x_);
    return max(result, Scalar(1));
  }

  Scalar gradient_at(const Dims& p) const {
    return lowering_.load_as(wide(), first_, geometry_.out.stored_index(p));
  }

  void maximum() {
    const Scalar lowest = min_value(result_.dtype());
    lowering_.reduce(
        "pool", result_, result_.shape(), kernel_,
        [&](const Dims& s, const Dims& r) {
          std::vector<Scalar> conditions;
          const Scalar value =
              lowering_.loops().load(data_, cell(geometry_.out.ordered_index(s), r, conditions));
          const Scalar inside = windows::all_of(conditions);
          return inside.defined() ? if_then_else(inside, value, lowest) : value;
        },
        [](const Scalar& best, const Scalar& value) { return maximum_ieee(best, value); }, lowest);
  }

  // Integers are summed and divided in 64 bits, as the mean does it.
  void average() {
    const DType sums = is_float(result_.dtype())        ? wide()
                       : is_signed_int(result_.dtype()) ? DType::Int64
                                                        : DType::UInt64;
    const Buffer total = lowering_.temporary("total", result_.shape(), sums);
    lowering_.reduce("pool_sum", total, result_.shape(), kernel_, [&](const Dims& s, const Dims& r) {
      std::vector<Scalar> conditions;
      const Dims index = cell(geometry_.out.ordered_index(s), r, conditions);
      return windows::guarded(windows::all_of(conditions), lowering_.load_as(sums, data_, index));
    });
    lowering_.map("pool_average", result_, [&](const Dims& i) {
      return lowering_.loops().load(total, i) / cast(sums, divisor_at(geometry_.out.ordered_index(i)));
    });
  }

  // choice[window] = the number of its first largest cell, -1 when it has none.
  void find_choices() {
    const Dims shape = geometry_.out.stored(call_, y_);
    choice_ = lowering_.temporary("choice", shape, counts_cells());
    const Buffer best = lowering_.temporary("best", shape, data_.dtype());
    LoopBuilder& loops = lowering_.loops();
    const auto init = [&](const Dims& s) {
      return seq({loops.store(choice_, s, int_literal(counts_cells(), -1)),
                  loops.store(best, s, min_value(data_.dtype()))},
                 {});
    };
    const auto body = [&](const Dims& s, const Dims& r) {
      std::vector<Scalar> conditions;
      const Scalar value = loops.load(data_, cell(geometry_.out.ordered_index(s), r, conditions));
      const Scalar old = loops.load(best, s), held = loops.load(choice_, s);
      const Scalar inside = windows::all_of(conditions);
      Scalar better = logical(LogicalOp::Or, compare(CompareOp::Lt, held, int_literal(counts_cells(), 0)),
                              compare(CompareOp::Gt, value, old));
      if (is_float(data_.dtype())) {
        const Scalar turns_nan = logical(LogicalOp::And, not_equal(value, value), equal(old, old));
        better = logical(LogicalOp::Or, better, turns_nan);
      }
      if (inside.defined()) better = if_then_else(inside, better, bool_literal(false));
      const Stmt choose = loops.store(choice_, s, select(better, number(r), held));
      // Behind that store the choice is this cell exactly when it was taken.
      const Stmt keep =
          loops.store(best, s, if_then_else(equal(loops.load(choice_, s), number(r)), value, old));
      return seq({choose, keep}, {});
    };
    loops.spatial_reduce("choice", shape, kernel_, body, init);
  }

  void select_chosen() {
    lowering_.map("select", result_, [&](const Dims& i) {
      const Scalar chosen = cast(DType::Int64, lowering_.loops().load(choice_, i));
      Dims k(kernel_.size());
      Scalar rest = chosen;
      for (std::size_t d = kernel_.size(); d-- > 1;) {
        k[d] = floor_mod(rest, kernel_[d]);
        rest = floor_div(rest, kernel_[d]);
      }
      k[0] = rest;
      std::vector<Scalar> conditions = {compare(CompareOp::Ge, chosen, Scalar(0))};
      std::vector<Scalar> known;  // what is chosen lies in the data
      const Dims index = cell(geometry_.out.ordered_index(i), k, known);
      return windows::guarded(windows::all_of(conditions), lowering_.loops().load(first_, index));
    });
  }

  // result[q] = the sum of term(p, k) over the windows p of which q is cell k.
  void gather(const std::function<Scalar(const Dims& p, const Dims& k)>& term) {
    const Buffer total =
        wide() == result_.dtype() ? result_ : lowering_.temporary("total", result_.shape(), wide());
    lowering_.reduce("gather", total, result_.shape(), kernel_, [&](const Dims& s, const Dims& k) {
      const Dims q = geometry_.data.ordered_index(s);
      Dims p = {q[0], q[1]};
      std::vector<Scalar> conditions;
      for (std::size_t d = 0; d < k.size(); ++d) {
        const Axis& axis = geometry_.axes[d];
        const Scalar from = q[2 + d] + Scalar(axis.before) - k[d] * Scalar(axis.dilation);
        conditions.push_back(compare(CompareOp::Ge, from, Scalar(0)));
        if (axis.stride > 1) conditions.push_back(equal(floor_mod(from, Scalar(axis.stride)), Scalar(0)));
        p.push_back(axis.stride == 1 ? from : floor_div(from, Scalar(axis.stride)));
        conditions.push_back(p.back() < y_[2 + d]);
      }
      return windows::guarded(windows::all_of(conditions), term(p, k));
    });
    if (!(total == result_))
      lowering_.map("round", result_, [&](const Dims& i) { return lowering_.loops().load(total, i); });
  }

  const Member& member_;
  const CallView& call_;
  Geometry geometry_;
  Lowering lowering_;
  Buffer first_, data_, result_, choice_;
  Dims x_, y_, kernel_;
};

}  // namespace

PrimFunc lower(const LowerCall& call, const Member& member) { return Nest(call, member).build(); }

// --- Gradient: each is linear in its first tensor; a choice of cells is constant almost everywhere.

Partials vjp(const VjpCall& c, const Member& member) {
  const GradientRule rule(c);
  const Geometry geometry = geometry_of(c.call, member);
  Attributes attributes = {{"pool_size", geometry.kernel ? attribute_of(*geometry.kernel) : Attribute()},
                           {"strides", windows::strides_attribute(geometry.axes)},
                           {"dilation", windows::dilation_attribute(geometry.axes)},
                           {"padding", windows::padding_attribute(geometry.axes)},
                           {"ceil_mode", geometry.ceil},
                           {"count_include_pad", geometry.include},
                           {"layout", geometry.data.text()},
                           {"out_layout", geometry.out.text()}};
  const GraphValue data = rule.argument(data_argument(member.kind));
  const auto ranked = [&](std::string_view what) { return fmt::format(fmt::runtime(what), geometry.rank); };
  std::string op;
  std::vector<GraphValue> args = {rule.cotangent()};
  if (member.kind != Kind::AverageBackward) args.push_back(data);
  switch (member.kind) {
    case Kind::Max:
    case Kind::MaxSelect:
      op = ranked("grad.max_pool{}d_backward");
      break;
    case Kind::MaxBackward:
      op = "grad.max_pool_select";
      break;
    case Kind::Average:
      op = ranked("grad.avg_pool{}d_backward");
      break;
    case Kind::AverageBackward:
      op = ranked("nn.avg_pool{}d");
      break;
  }
  Partials partials(c.call.args.size());
  if (rule.differentiable(0)) partials[0] = call_op(op, args, std::move(attributes)).expr();
  return partials;
}

}  // namespace relish::pooling

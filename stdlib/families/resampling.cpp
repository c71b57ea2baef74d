// Resizing and adaptive averages.
#include "stdlib/families/resampling.h"

#include <algorithm>
#include <cmath>

#include "ir/printer.h"
#include "stdlib/families/dtypes.h"
#include "stdlib/families/elements.h"
#include "stdlib/families/lowering.h"

namespace relish::resampling {
namespace {

using windows::Layout;

enum class Method : std::uint8_t { Nearest, Linear, Cubic, Average };
enum class Coordinates : std::uint8_t {
  HalfPixel,
  AlignCorners,
  Asymmetric,
  PytorchHalfPixel,
  HalfPixelForNearest,
  Crop,
};
enum class Rounding : std::uint8_t { Even, Floor, Ceil, HalfDown, HalfUp };

// What the attributes of a call say.
struct Sampling {
  int rank;
  Layout data, out;
  Method method;
  Coordinates coordinates = Coordinates::Asymmetric;
  Rounding rounding = Rounding::Even;
  double alpha = -0.75;
  bool exclude = false;            // cubic: cells outside have no weight
  std::vector<double> start, end;  // Crop: the part of the data, from 0 to 1
  double extrapolation = 0;
};

template <class Enum, std::size_t count>
Enum choice(const CallView& call, std::string_view name,
            const std::pair<std::string_view, Enum> (&values)[count]) {
  const std::string text = call.string_attribute(name);
  std::string expected;
  for (const auto& [word, value] : values) {
    if (word == text) return value;
    if (!word.empty()) expected += (expected.empty() ? "" : ", ") + std::string(word);
  }
  call.reject(name, call.span, fmt::format("{} is \"{}\", expected one of {}", name, text, expected));
}

double number_attribute(const CallView& call, std::string_view name) {
  const Attribute& value = call.attribute(name);
  if (const auto* real = value.as<double>()) return *real;
  return static_cast<double>(call.int_attribute(name));
}

// A list of numbers; None gives zeros.
std::vector<double> numbers_attribute(const CallView& call, std::string_view name, std::size_t count) {
  const Attribute& value = call.attribute(name);
  if (value.is_none()) return std::vector<double>(count, 0.0);
  std::vector<double> result;
  const auto add = [&](const Attribute& item) {
    if (const auto* real = item.as<double>())
      result.push_back(*real);
    else if (const auto* integer = item.as<std::int64_t>())
      result.push_back(static_cast<double>(*integer));
  };
  if (const auto* list = value.as<AttributeList>())
    for (const Attribute& item : *list) add(item);
  else
    result.assign(count, number_attribute(call, name));
  if (result.size() != count) {
    call.reject(name, call.span, fmt::format("{} has {} numbers, expected {}", name, result.size(), count));
  }
  return result;
}

constexpr std::pair<std::string_view, Method> methods[] = {
    {"nearest_neighbor", Method::Nearest}, {"linear", Method::Linear},    {"cubic", Method::Cubic},
    {"bilinear", Method::Linear},          {"trilinear", Method::Linear}, {"bicubic", Method::Cubic},
    {"nearest", Method::Nearest}};
constexpr std::pair<std::string_view, Coordinates> coordinate_modes[] = {
    {"half_pixel", Coordinates::HalfPixel},
    {"align_corners", Coordinates::AlignCorners},
    {"asymmetric", Coordinates::Asymmetric},
    {"pytorch_half_pixel", Coordinates::PytorchHalfPixel},
    {"tf_half_pixel_for_nn", Coordinates::HalfPixelForNearest},
    {"tf_crop_and_resize", Coordinates::Crop}};
constexpr std::pair<std::string_view, Rounding> roundings[] = {{"round", Rounding::Even},
                                                               {"floor", Rounding::Floor},
                                                               {"ceil", Rounding::Ceil},
                                                               {"round_prefer_floor", Rounding::HalfDown},
                                                               {"round_prefer_ceil", Rounding::HalfUp},
                                                               {"", Rounding::Even}};

Sampling sampling_of(const CallView& call, const Member& member) {
  int rank = member.rank;
  if (rank == 0) {
    const std::size_t letters = call.string_attribute("layout").size();
    rank = static_cast<int>(letters) - 2;
    if (rank < 1 || rank > 3)
      call.reject("layout", call.span, fmt::format("layout has {} letters, expected 3, 4 or 5", letters));
  }
  const std::string order = "NC" + std::string(windows::spatial_letters(rank));
  const Layout data(call, "layout", order);
  if (member.source == Source::Adaptive) {
    const Layout out(call, "out_layout", order, &data);
    return {.rank = rank, .data = data, .out = out, .method = Method::Average};
  }
  Sampling sampling{.rank = rank, .data = data, .out = data, .method = choice(call, "method", methods)};
  if (member.source == Source::Upsampling) {
    sampling.rounding = Rounding::Floor;
    if (call.int_attribute("align_corners") != 0) sampling.coordinates = Coordinates::AlignCorners;
    return sampling;
  }
  sampling.coordinates = choice(call, "coordinate_transformation_mode", coordinate_modes);
  sampling.rounding = choice(call, "rounding_method", roundings);
  if (call.string_attribute("rounding_method").empty() && sampling.coordinates != Coordinates::HalfPixel)
    sampling.rounding = Rounding::Floor;
  sampling.alpha = number_attribute(call, "cubic_alpha");
  sampling.exclude = call.int_attribute("cubic_exclude") != 0;
  sampling.extrapolation = number_attribute(call, "extrapolation_value");
  const auto count = static_cast<std::size_t>(rank);
  const std::vector<double> roi = numbers_attribute(call, "roi", 2 * count);
  sampling.start.assign(roi.begin(), roi.begin() + rank);
  sampling.end.assign(roi.begin() + rank, roi.end());
  return sampling;
}

constexpr std::string_view scale_names[] = {"scale_d", "scale_h", "scale_w"};

// The spatial dims that the attributes or the second argument ask for.
std::optional<Dims> wanted_sizes(const CallView& call, const Member& member, const Sampling& sampling,
                                 const std::optional<Dims>& x) {
  const auto rank = static_cast<std::size_t>(sampling.rank);
  Dims sizes;
  if (member.source == Source::Resize) {
    const BroadcastShape size = shape_argument(call, 1);
    if (size.rank >= 0 && size.rank != sampling.rank) {
      call.reject("size", call.span_of(1),
                  fmt::format("size has {} numbers, expected {}", size.rank, sampling.rank));
    }
    if (!size.dims) return std::nullopt;
    sizes = *size.dims;
  } else if (member.source == Source::Adaptive) {
    if (call.attribute("output_size").is_none()) {
      if (!x) return std::nullopt;
      return Dims(x->begin() + 2, x->end());
    }
    for (std::int64_t size : windows::sizes(call, "output_size", sampling.rank, 0)) sizes.push_back(size);
  } else {
    if (!x) return std::nullopt;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::string_view name = scale_names[3 - rank + d];
      const double scale = number_attribute(call, name);
      const double whole = std::round(scale);
      if (!(scale > 0))
        call.reject("scale", call.span, fmt::format("{} is {}, expected more than 0", name, scale));
      const Scalar& in = (*x)[2 + d];
      if (scale == whole) {
        sizes.push_back(canonical(in * Scalar(static_cast<std::int64_t>(whole))));
      } else if (const auto known = in.as_int()) {
        sizes.push_back(static_cast<std::int64_t>(std::nearbyint(static_cast<double>(*known) * scale)));
      } else {
        call.reject("scale", call.span,
                    fmt::format("{} is {} and dimension {} of data is {}; only whole scales go with symbolic "
                                "dimensions",
                                name, scale, d, print(in)));
      }
    }
  }
  for (const Scalar& size : sizes) {
    if (size.as_int().value_or(0) < 0)
      call.reject("size", call.span, fmt::format("size has {}, expected at least 0", print(size)));
  }
  return sizes;
}

}  // namespace

Type infer(const CallView& call, const Member& member) {
  const Sampling sampling = sampling_of(call, member);
  if (member.backward || sampling.method != Method::Nearest)
    require_float(call, 0);
  else
    require_number(call, 0);
  std::optional<DType> dtype = call.tensor(0).dtype;
  if (member.source == Source::Resize && !member.backward) {
    if (const auto wanted = dtype_attribute(call, "out_dtype")) dtype = wanted;
  }
  const Layout& layout = member.backward ? sampling.out : sampling.data;
  const std::optional<Dims> have = layout.dims(call, 0);
  const auto require_cells = [&](const Scalar& in, const Scalar& out) {
    if (in.as_int() != 0 || out.as_int().value_or(1) == 0) return;
    call.reject("size", call.span, "a spatial dimension of the data is 0 and the result has cells");
  };
  if (member.backward) {
    const BroadcastShape shape = shape_argument(call, 1);
    if (shape.rank >= 0 && shape.rank != sampling.rank + 2) {
      call.reject("rank", call.span_of(1),
                  fmt::format("the shape has rank {}, expected {}", shape.rank, sampling.rank + 2));
    }
    if (have && shape.dims) {
      const Dims wanted = sampling.data.ordered(*shape.dims);
      for (std::size_t i = 0; i < 2; ++i) {
        if (!prove_different((*have)[i], wanted[i])) continue;
        call.reject("shape", call.span,
                    fmt::format("output_grad has {} where the shape of data has {} {}", print((*have)[i]),
                                print(wanted[i]), i == 0 ? "batches" : "channels"));
      }
      for (std::size_t i = 2; i < wanted.size(); ++i) require_cells(wanted[i], (*have)[i]);
    }
    return tensor_of(shape, dtype);
  }
  const std::optional<Dims> sizes = wanted_sizes(call, member, sampling, have);
  if (!have || !sizes) return TensorType{dtype, std::nullopt, sampling.rank + 2};
  for (std::size_t i = 0; i < sizes->size(); ++i) require_cells((*have)[2 + i], (*sizes)[i]);
  Dims dims = {(*have)[0], (*have)[1]};
  dims.insert(dims.end(), sizes->begin(), sizes->end());
  return TensorType{dtype, sampling.out.stored(dims), sampling.rank + 2};
}

// --- Evaluation: for every cell of the result along one dimension, which cells of the data count how much.

namespace {

struct Cell {
  std::int64_t source;
  double weight;
};
// Absent: outside of the data, where the extrapolation value stands.
using Cells = std::optional<std::vector<Cell>>;

double position(const Sampling& sampling, std::size_t d, std::int64_t p, std::int64_t in, std::int64_t out) {
  const auto at = static_cast<double>(p), from = static_cast<double>(in), to = static_cast<double>(out);
  switch (sampling.coordinates) {
    case Coordinates::HalfPixel:
      return (2 * at + 1) * from / (2 * to) - 0.5;
    case Coordinates::PytorchHalfPixel:
      return out > 1 ? (2 * at + 1) * from / (2 * to) - 0.5 : 0;
    case Coordinates::HalfPixelForNearest:
      return (2 * at + 1) * from / (2 * to);
    case Coordinates::Asymmetric:
      return at * from / to;
    case Coordinates::AlignCorners:
      return out > 1 ? at * (from - 1) / (to - 1) : 0;
    case Coordinates::Crop: {
      const double start = sampling.start[d], end = sampling.end[d];
      if (out > 1) return start * (from - 1) + at * (end - start) * (from - 1) / (to - 1);
      return 0.5 * (start + end) * (from - 1);
    }
  }
  return 0;
}

double rounded(Rounding rounding, double x) {
  switch (rounding) {
    case Rounding::Even:
      return std::nearbyint(x);
    case Rounding::Floor:
      return std::floor(x);
    case Rounding::Ceil:
      return std::ceil(x);
    case Rounding::HalfDown:
      return std::ceil(x - 0.5);
    case Rounding::HalfUp:
      return std::floor(x + 0.5);
  }
  return x;
}

Cells cells_of(const Sampling& sampling, std::size_t d, std::int64_t p, std::int64_t in, std::int64_t out) {
  std::vector<Cell> cells;
  if (sampling.method == Method::Average) {
    const std::int64_t start = p * in / out, end = ((p + 1) * in + out - 1) / out;
    for (std::int64_t q = start; q < end; ++q) cells.push_back({q, 1.0 / static_cast<double>(end - start)});
    return cells;
  }
  const auto clamped = [&](double q) {
    return static_cast<std::int64_t>(std::clamp(q, 0.0, static_cast<double>(in - 1)));
  };
  const double at = position(sampling, d, p, in, out), floor = std::floor(at), t = at - floor;
  if (sampling.coordinates == Coordinates::Crop && (at < 0 || at > static_cast<double>(in - 1)))
    return std::nullopt;
  if (sampling.method == Method::Nearest) return Cells({{clamped(rounded(sampling.rounding, at)), 1.0}});
  if (sampling.method == Method::Linear) return Cells({{clamped(floor), 1 - t}, {clamped(floor + 1), t}});
  const double a = sampling.alpha;
  const double weights[] = {((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a,
                            ((a + 2) * t - (a + 3)) * t * t + 1,
                            ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1,
                            ((a * (2 - t) - 5 * a) * (2 - t) + 8 * a) * (2 - t) - 4 * a};
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    const double q = floor - 1 + k;
    const bool outside = q < 0 || q > static_cast<double>(in - 1);
    const double weight = sampling.exclude && outside ? 0 : weights[k];
    cells.push_back({clamped(q), weight});
    sum += weight;
  }
  if (sampling.exclude)
    for (Cell& cell : cells) cell.weight /= sum;
  return cells;
}

}  // namespace

Value evaluate(const EvalCall& c, const Member& member) {
  const Sampling sampling = sampling_of(c.call, member);
  const Tensor& source = c.in(0);
  const DType dtype = *c.result_type.tensor()->dtype;
  const Shape shape = result_shape(c);
  const Shape x = sampling.data.ordered(member.backward ? shape : source.shape());
  const Shape y = sampling.out.ordered(member.backward ? source.shape() : shape);
  const Shape x_strides = sampling.data.ordered(row_major_strides(member.backward ? shape : source.shape()));
  const Shape y_strides = sampling.out.ordered(row_major_strides(member.backward ? source.shape() : shape));
  std::vector<std::vector<Cells>> maps(static_cast<std::size_t>(sampling.rank));
  for (std::size_t d = 0; d < maps.size(); ++d) {
    for (std::int64_t p = 0; p < y[2 + d]; ++p)
      maps[d].push_back(cells_of(sampling, d, p, x[2 + d], y[2 + d]));
  }
  std::vector<double> totals(static_cast<std::size_t>(element_count(shape)));
  windows::for_each_index(y, [&](const Shape& p) {
    const std::int64_t at_y = windows::offset(y_strides, p);
    Shape counts;
    for (std::size_t d = 0; d < maps.size(); ++d) {
      const Cells& cells = maps[d][static_cast<std::size_t>(p[2 + d])];
      if (!cells) {
        if (!member.backward) totals[static_cast<std::size_t>(at_y)] = sampling.extrapolation;
        return;
      }
      counts.push_back(static_cast<std::int64_t>(cells->size()));
    }
    windows::for_each_index(counts, [&](const Shape& k) {
      double weight = 1;
      std::int64_t at_x = p[0] * x_strides[0] + p[1] * x_strides[1];
      for (std::size_t d = 0; d < maps.size(); ++d) {
        const Cell& cell = (*maps[d][static_cast<std::size_t>(p[2 + d])])[static_cast<std::size_t>(k[d])];
        weight *= cell.weight;
        at_x += cell.source * x_strides[2 + d];
      }
      const std::int64_t from = member.backward ? at_y : at_x, to = member.backward ? at_x : at_y;
      totals[static_cast<std::size_t>(to)] += weight * source.get_double(from);
    });
  });
  Tensor result = Tensor::empty(DType::Float64, shape);
  std::copy(totals.begin(), totals.end(), result.mutable_view<double>().data());
  if (sampling.method == Method::Nearest && !member.backward && is_int(source.dtype())) {
    // Moved as they are: a double does not hold every integer of 64 bits.
    Tensor moved = Tensor::empty(source.dtype(), shape);
    windows::for_each_index(y, [&](const Shape& p) {
      std::int64_t at_x = p[0] * x_strides[0] + p[1] * x_strides[1];
      for (std::size_t d = 0; d < maps.size(); ++d) {
        const Cells& cells = maps[d][static_cast<std::size_t>(p[2 + d])];
        if (!cells) {
          moved.set_double(windows::offset(y_strides, p), sampling.extrapolation);
          return;
        }
        at_x += cells->front().source * x_strides[2 + d];
      }
      moved.set_int(windows::offset(y_strides, p), source.get_int(at_x));
    });
    return convert_tensor(moved, dtype);
  }
  return convert_tensor(result, dtype);
}

// --- Lowering: the same sums as scalars of loops; coordinates are computed in float64.

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
    } else if (!member_.backward) {
      gather();
    } else {
      scatter();
    }
    return lowering_.finish();
  }

 private:
  DType wide() const { return compute_dtype(result_.dtype()); }

  Scalar position_of(std::size_t d, const Scalar& p) const {
    const Scalar at = cast(DType::Float64, p), from = cast(DType::Float64, x_[2 + d]),
                 to = cast(DType::Float64, y_[2 + d]);
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

  // Index of the data, weight and condition of tap k of cell p of the result.
  Dims data_index(const Dims& p, const Dims& k, Scalar& weight, std::vector<Scalar>& conditions) const {
    Dims index = {p[0], p[1]};
    for (std::size_t d = 0; d < k.size(); ++d) {
      const LoweredCell found = cell(d, p[2 + d], k[d]);
      index.push_back(found.source);
      if (found.counts.defined()) conditions.push_back(found.counts);
      if (found.weight.defined()) weight = weight.defined() ? weight * found.weight : found.weight;
    }
    return sampling_.data.stored(index);
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
          data_index(sampling_.out.ordered(s), Dims(taps_.size(), Scalar(0)), weight, conditions);
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
      const Dims index = data_index(sampling_.out.ordered(s), r, weight, conditions);
      return windows::guarded(windows::all_of(conditions),
                              cast(sums, weight) * lowering_.load_as(sums, source_, index));
    });
    if (total == result_) return;
    lowering_.map("round", result_, [&](const Dims& s) {
      Scalar weight;
      std::vector<Scalar> conditions;
      if (sampling_.coordinates == Coordinates::Crop)
        data_index(sampling_.out.ordered(s), Dims(taps_.size(), Scalar(0)), weight, conditions);
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
      Scalar term = lowering_.load_as(wide(), source_, sampling_.out.stored(p));
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
};

}  // namespace

PrimFunc lower(const LowerCall& call, const Member& member) { return Nest(call, member).build(); }

// --- Gradient: the transposed map.

Partials vjp(const VjpCall& c, const Member& member) {
  const GradientRule rule(c);
  const Sampling sampling = sampling_of(c.call, member);
  Attributes attributes;
  const auto same = [&](std::initializer_list<std::string_view> names) {
    for (std::string_view name : names) attributes.emplace_back(std::string(name), c.call.attribute(name));
  };
  const auto as_dtype = [](const GraphValue& x, std::optional<DType> dtype) {
    return !dtype || x.type().dtype == dtype ? x : call_op("astype", {x}, {{"dtype", *dtype}});
  };
  Partials partials(c.call.args.size());
  if (!rule.differentiable(0)) return partials;
  if (member.source == Source::Upsampling) {
    attributes = {{"layout", sampling.data.text()},
                  {"method", c.call.attribute("method")},
                  {"coordinate_transformation_mode",
                   sampling.coordinates == Coordinates::AlignCorners ? "align_corners" : "asymmetric"},
                  {"rounding_method", "floor"}};
  } else if (member.source == Source::Adaptive) {
    attributes = {{"layout", sampling.data.text()}, {"out_layout", sampling.out.text()}};
  } else {
    same({"roi", "layout", "method", "coordinate_transformation_mode", "rounding_method", "cubic_alpha",
          "cubic_exclude"});
  }
  const bool adaptive = member.source == Source::Adaptive;
  if (!member.backward) {
    const std::string op =
        adaptive ? "grad.adaptive_avg_pool_backward" : fmt::format("grad.resize{}d_backward", sampling.rank);
    const GraphValue g = as_dtype(rule.cotangent(), c.call.tensor(0).dtype);
    partials[0] = call_op(op, {g, rule.shape(0)}, std::move(attributes)).expr();
    return partials;
  }
  const Dims dims = sampling.out.ordered(rule.dims(0));
  const Dims spatial(dims.begin() + 2, dims.end());
  if (!adaptive) {
    partials[0] = call_op(fmt::format("image.resize{}d", sampling.rank),
                          {rule.cotangent(), shape_value(spatial, c.builder)}, std::move(attributes))
                      .expr();
    return partials;
  }
  windows::Sizes sizes;
  for (const Scalar& dim : spatial) {
    if (!dim.as_int()) {
      c.call.reject(
          "gradient", c.call.span,
          fmt::format("the gradient needs the sizes of output_grad, one of which is {}", print(dim)));
    }
    sizes.push_back(*dim.as_int());
  }
  attributes.insert(attributes.begin(), {"output_size", attribute_of(sizes)});
  partials[0] = call_op(fmt::format("nn.adaptive_avg_pool{}d", sampling.rank), {rule.cotangent()},
                        std::move(attributes))
                    .expr();
  return partials;
}

}  // namespace relish::resampling

// Resizing and adaptive averages: types, evaluation and gradient.
#include "stdlib/families/windows/resampling.h"

#include <algorithm>
#include <cmath>

#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/fill_value.h"
#include "stdlib/families/windows/resampling_attributes.h"
#include "support/memory.h"

namespace relish::resampling {

using windows::Layout;

namespace {

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
      if (scale > static_cast<double>(windows::most_step)) {
        call.reject("scale", call.span,
                    fmt::format("{} is {}, expected at most {}", name, scale, windows::most_step));
      }
      const Scalar& in = (*x)[2 + d];
      if (scale == whole) {
        sizes.push_back(canonical(in * Scalar(static_cast<std::int64_t>(whole))));
      } else if (const auto known = in.as_int()) {
        const double size = std::nearbyint(static_cast<double>(*known) * scale);
        if (size >= 0x1p62)
          call.reject("scale", call.span, fmt::format("{} is {} of a dimension of {}", name, scale, *known));
        sizes.push_back(static_cast<std::int64_t>(size));
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
  if (member.source == Source::Resize)
    require_in_range(call, "extrapolation_value", sampling.extrapolation, call.span, dtype);
  const Layout& layout = member.backward ? sampling.out : sampling.data;
  const std::optional<Dims> have = layout.dims(call, 0);
  const auto require_cells = [&](const Scalar& in, const Scalar& out) {
    if (in.as_int() != 0 || out.as_int().value_or(1) == 0) return;
    call.reject("size", call.span, "a spatial dimension of the data is 0 and the result has cells");
  };
  if (member.backward) {
    const BroadcastShape shape = shape_argument(call, 1);
    if (shape.rank >= 0 && shape.rank != sampling.data.rank()) {
      call.reject("rank", call.span_of(1),
                  fmt::format("the shape has rank {}, expected {}", shape.rank, sampling.data.rank()));
    }
    if (shape.dims) sampling.data.require(call, call.span_of(1), "the shape", *shape.dims);
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
  if (!have || !sizes) return TensorType{dtype, std::nullopt, sampling.out.rank()};
  for (std::size_t i = 0; i < sizes->size(); ++i) require_cells((*have)[2 + i], (*sizes)[i]);
  Dims dims = {(*have)[0], (*have)[1]};
  dims.insert(dims.end(), sizes->begin(), sizes->end());
  return TensorType{dtype, sampling.out.stored(call, dims), sampling.out.rank()};
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

// What the cells of every place along every dimension take.
std::uint64_t table_bytes(const Sampling& sampling, const Shape& x, const Shape& y) {
  std::uint64_t bytes = 0;
  for (std::size_t d = 2; d < x.size(); ++d) {
    const auto in = static_cast<std::uint64_t>(x[d]), out = static_cast<std::uint64_t>(y[d]);
    // Averages share a cell between two places at most.
    const std::uint64_t cells = sampling.method == Method::Average ? in + 2 * out : 4 * out;
    bytes += out * sizeof(Cells) + cells * sizeof(Cell);
  }
  return bytes;
}

}  // namespace

Value evaluate(const EvalCall& c, const Member& member) {
  const Sampling sampling = sampling_of(c.call, member);
  const Tensor& source = c.in(0);
  const DType dtype = *c.result_type.tensor()->dtype;
  const Shape shape = result_shape(c);
  const Shape x = sampling.data.ordered(member.backward ? shape : source.shape());
  const Shape y = sampling.out.ordered(member.backward ? source.shape() : shape);
  const windows::Steps x_strides = sampling.data.steps(member.backward ? shape : source.shape());
  const windows::Steps y_strides = sampling.out.steps(member.backward ? source.shape() : shape);
  const std::int64_t places = element_count(y);
  if (places == 0) return Tensor::zeros(dtype, shape);
  std::vector<std::vector<Cells>> maps(static_cast<std::size_t>(sampling.rank));
  const HeldMemory held(
      table_bytes(sampling, x, y) + static_cast<std::uint64_t>(element_count(shape)) * sizeof(double),
      "a table of cells");
  for (std::size_t d = 0; d < maps.size(); ++d) {
    for (std::int64_t p = 0; p < y[2 + d]; ++p)
      maps[d].push_back(cells_of(sampling, d, p, x[2 + d], y[2 + d]));
  }
  // The one element that the nearest is stays as it is: a zero has a sign.
  const bool copies = sampling.method == Method::Nearest && !member.backward;
  std::vector<double> totals(static_cast<std::size_t>(element_count(shape)), copies ? -0.0 : 0.0);
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
  if (copies && is_int(source.dtype())) {
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

std::int64_t adaptive_terms(const CallView& call, const Type& result, const Member& member) {
  const Sampling sampling = sampling_of(call, member);
  const Layout& from_layout = member.backward ? sampling.out : sampling.data;
  const Layout& to_layout = member.backward ? sampling.data : sampling.out;
  const Shape from = from_layout.ordered(concrete_shape(call.tensor(0)));
  const Shape to = to_layout.ordered(concrete_shape(*result.tensor()));
  std::int64_t terms = 1;
  for (std::size_t d = 2; d < from.size(); ++d)
    terms *= (from[d] + std::max<std::int64_t>(to[d], 1) - 1) / std::max<std::int64_t>(to[d], 1) + 1;
  return terms;
}

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

// Pools over regions of images: types, the choice of cells, gradients.
#include "stdlib/families/windows/regions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/windows/boxes.h"
#include "support/interrupt.h"
#include "support/memory.h"

namespace relish::regions {
namespace {

constexpr std::string_view order = "NCHW";
constexpr std::int64_t most_samples = 65536;  // of a bin in one direction

// Where the arguments stand.
std::size_t data_argument(const Member& member) { return member.kind == Kind::Pool ? 0 : 1; }

// A cell of the image by its place in data, and how much of it a bin takes.
struct Share {
  std::int64_t cell;
  double weight;
};

// Data and bins with their strides, in the order N, C, H, W.
struct Regions {
  const Tensor &data, &rois;
  Shape x, y;
  windows::Steps x_strides, y_strides;
  double scale;

  Regions(const EvalCall& c, const Member& member)
      : data(c.in(data_argument(member))),
        rois(c.in(data_argument(member) + 1)),
        scale(boxes::number(c.call, "spatial_scale")) {
    const windows::Layout layout(c.call, "layout", std::string(order));
    const windows::Sizes size = windows::sizes(c.call, "pooled_size", 2, 1);
    x = layout.ordered(data.shape());
    x_strides = layout.steps(data.shape());
    y = {rois.shape()[0], x[1], size[0], size[1]};
    y_strides = layout.steps(layout.stored(y));
    for (std::int64_t r = 0; r < rois.shape()[0]; ++r) {
      const double image = rois.get_double(r * 5);
      if (image >= 0 && image < static_cast<double>(x[0])) continue;
      // A NaN has whatever sign the instruction gave it that made it.
      const double told = std::isnan(image) ? std::abs(image) : image;
      fail(ErrorClass::Runtime, c.call.span, fmt::format("{}.image", short_name_of(c.call.op)),
           fmt::format("{}: region {} is of image {}, and there are {}", short_name_of(c.call.op), r, told,
                       x[0]));
    }
  }

  double edge(std::int64_t region, int k) const { return rois.get_double(region * 5 + k) * scale; }
  std::int64_t cell(const Shape& bin, std::int64_t row, std::int64_t column) const {
    const auto image = static_cast<std::int64_t>(rois.get_double(bin[0] * 5));
    return windows::offset(x_strides, {image, bin[1], row, column});
  }
};

// Whether `value` comes before the `best` so far: the first NaN, else the first of the largest.
bool is_better(double value, double best) { return !std::isnan(best) && (std::isnan(value) || value > best); }

// --- align

struct Sampling {
  bool aligned, average;
  std::int64_t ratio;
};

// Between the four cells around a point; beyond the border its cells, and none more than a cell outside.
void add_sample(const Regions& regions, const Shape& bin, double row, double column, double weight,
                std::vector<Share>& shares) {
  const auto rows = static_cast<double>(regions.x[2]), columns = static_cast<double>(regions.x[3]);
  if (!(row >= -1 && column >= -1 && row <= rows && column <= columns) || rows == 0 || columns == 0) return;
  row = std::min(std::max(row, 0.0), rows - 1);
  column = std::min(std::max(column, 0.0), columns - 1);
  const auto top = static_cast<std::int64_t>(row), left = static_cast<std::int64_t>(column);
  const std::int64_t below = std::min(top + 1, regions.x[2] - 1),
                     right = std::min(left + 1, regions.x[3] - 1);
  const double down = row - static_cast<double>(top), across = column - static_cast<double>(left);
  shares.push_back({regions.cell(bin, top, left), weight * (1 - down) * (1 - across)});
  shares.push_back({regions.cell(bin, top, right), weight * (1 - down) * across});
  shares.push_back({regions.cell(bin, below, left), weight * down * (1 - across)});
  shares.push_back({regions.cell(bin, below, right), weight * down * across});
}

double sum_of(const std::vector<Share>& shares, const Tensor& from) {
  double total = 0;
  for (const Share& share : shares) total += share.weight * from.get_double(share.cell);
  return total;
}

// Which of `count` samples at base + (k + 0.5) * step lie within a cell of [0, size]: from the first to
// behind the last, with one outside on either side where there is one, since the first of equal samples is
// taken. So the work is bounded by the data, however large a region is.
std::pair<std::int64_t, std::int64_t> near_samples(double base, double step, std::int64_t count,
                                                   std::int64_t size) {
  if (!std::isfinite(base) || !std::isfinite(step)) return {0, std::min<std::int64_t>(count, 1)};
  if (step == 0) return {0, count};
  double first = (-1 - base) / step - 0.5, last = (static_cast<double>(size) - base) / step - 0.5;
  if (step < 0) std::swap(first, last);
  const auto most = static_cast<double>(count);
  const auto from = static_cast<std::int64_t>(std::clamp(std::floor(first) - 1, 0.0, most));
  const auto to = static_cast<std::int64_t>(std::clamp(std::ceil(last) + 2, 0.0, most));
  return {from, std::max(from, to)};
}

void align(const Regions& regions, const Sampling& sampling, const Shape& bin, std::vector<Share>& shares) {
  const double left = regions.edge(bin[0], 1), top = regions.edge(bin[0], 2);
  double width = regions.edge(bin[0], 3) - left, height = regions.edge(bin[0], 4) - top;
  if (!sampling.aligned) width = std::max(width, 1.0), height = std::max(height, 1.0);
  const double bin_height = height / static_cast<double>(regions.y[2]),
               bin_width = width / static_cast<double>(regions.y[3]);
  const auto samples = [&](double size) {
    return sampling.ratio > 0 ? sampling.ratio
                              : static_cast<std::int64_t>(std::ceil(size < 1e6 ? size : 1e6));
  };
  const std::int64_t rows = samples(bin_height), columns = samples(bin_width);
  if (rows <= 0 || columns <= 0) return;
  const auto [first_row, end_row] = near_samples(top + static_cast<double>(bin[2]) * bin_height,
                                                 bin_height / static_cast<double>(rows), rows, regions.x[2]);
  const auto [first_column, end_column] =
      near_samples(left + static_cast<double>(bin[3]) * bin_width, bin_width / static_cast<double>(columns),
                   columns, regions.x[3]);
  HeldMemory held;
  if (sampling.average) {
    held = HeldMemory(static_cast<std::uint64_t>(end_row - first_row) *
                          static_cast<std::uint64_t>(end_column - first_column) * 4 * sizeof(Share),
                      "a list of samples", {});
  }
  const auto place = [](std::int64_t at, std::int64_t k, std::int64_t count, double size) {
    return static_cast<double>(at) * size +
           (static_cast<double>(k) + 0.5) * size / static_cast<double>(count);
  };
  const double weight = sampling.average ? 1 / static_cast<double>(rows * columns) : 1;
  double best = 0;
  bool found = false;
  std::vector<Share> sample;
  for (std::int64_t i = first_row; i < end_row; ++i) {
    poll_interrupt();
    for (std::int64_t j = first_column; j < end_column; ++j) {
      const double row = top + place(bin[2], i, rows, bin_height),
                   column = left + place(bin[3], j, columns, bin_width);
      if (sampling.average) {
        add_sample(regions, bin, row, column, weight, shares);
        continue;
      }
      sample.clear();
      add_sample(regions, bin, row, column, weight, sample);
      const double value = sum_of(sample, regions.data);
      if (found && !is_better(value, best)) continue;
      found = true;
      best = value;
      shares = sample;
    }
  }
}

// --- pool

void pool(const Regions& regions, const Shape& bin, std::vector<Share>& shares) {
  const auto edge = [&](int k) {
    return static_cast<std::int64_t>(
        std::floor(std::min(std::max(regions.edge(bin[0], k), -1e9), 1e9) + 0.5));
  };
  // The cells of bin `at` of `count` along one dimension, within the data.
  const auto cells = [&](int k, std::int64_t at, std::int64_t count, std::int64_t size) {
    const std::int64_t start = edge(k);
    const double length =
        static_cast<double>(std::max<std::int64_t>(edge(k + 2) - start + 1, 1)) / static_cast<double>(count);
    const auto within = [&](double place) {
      return std::min(std::max(static_cast<std::int64_t>(place) + start, std::int64_t{0}), size);
    };
    return std::pair(within(std::floor(static_cast<double>(at) * length)),
                     within(std::ceil(static_cast<double>(at + 1) * length)));
  };
  const auto [top, bottom] = cells(2, bin[2], regions.y[2], regions.x[2]);
  const auto [left, right] = cells(1, bin[3], regions.y[3], regions.x[3]);
  for (std::int64_t i = top; i < bottom; ++i) {
    for (std::int64_t j = left; j < right; ++j) {
      const std::int64_t cell = regions.cell(bin, i, j);
      if (shares.empty() || is_better(regions.data.get_double(cell), regions.data.get_double(shares[0].cell)))
        shares = {{cell, 1.0}};
    }
  }
}

}  // namespace

Type infer(const CallView& call, const Member& member) {
  const std::size_t d = data_argument(member);
  require_float(call, 0);
  std::optional<DType> dtype = common_dtype(call, 0, d + 1);
  if (d == 1) dtype = common_dtype(call, 0, 1);
  if (member.align) {
    const std::string mode = call.string_attribute("mode");
    if (mode != "avg" && mode != "max")
      call.reject("mode", call.span, fmt::format("mode is \"{}\", expected avg or max", mode));
    if (const std::int64_t ratio = call.int_attribute("sample_ratio"); ratio > most_samples) {
      call.reject("sample_ratio", call.span,
                  fmt::format("sample_ratio is {}, expected at most {}", ratio, most_samples));
    }
  }
  const windows::Layout layout(call, "layout", std::string(order));
  const windows::Sizes size = windows::sizes(call, "pooled_size", 2, 1);
  const std::optional<Dims> data = layout.dims(call, d), rois = boxes::dims_of(call, d + 1, 2);
  if (rois) boxes::require_equal(call, d + 1, (*rois)[1], Scalar(5), "numbers for a region");
  std::optional<Dims> bins;
  if (data && rois) bins = Dims{(*rois)[0], (*data)[1], size[0], size[1]};
  const auto typed = [&](const std::optional<Dims>& dims) {
    return dims ? TensorType{dtype, layout.stored(call, *dims), 4} : TensorType{dtype, std::nullopt, 4};
  };
  if (member.kind == Kind::Pool) return typed(bins);
  const std::optional<Dims> first = layout.dims(call, 0);
  const std::optional<Dims>& wanted = member.kind == Kind::Select ? data : bins;
  constexpr std::array<std::string_view, 4> what = {"in the first dimension", "channels", "rows", "columns"};
  for (std::size_t i = 0; first && wanted && i < 4; ++i)
    boxes::require_equal(call, 0, (*first)[i], (*wanted)[i], what[i]);
  return typed(member.kind == Kind::Select ? bins : data);
}

Value evaluate(const EvalCall& c, const Member& member) {
  const Regions regions(c, member);
  Sampling sampling{};
  if (member.align) {
    sampling = {c.call.int_attribute("aligned") != 0, c.call.string_attribute("mode") == "avg",
                c.call.int_attribute("sample_ratio")};
  }
  Tensor result = Tensor::zeros(regions.data.dtype(), result_shape(c));
  std::vector<double> sums(member.kind == Kind::Backward ? static_cast<std::size_t>(result.size()) : 0);
  std::vector<Share> shares;
  windows::for_each_index(regions.y, [&](const Shape& bin) {
    shares.clear();
    if (member.align) {
      align(regions, sampling, bin, shares);
    } else {
      pool(regions, bin, shares);
    }
    const std::int64_t at = windows::offset(regions.y_strides, bin);
    if (member.kind != Kind::Backward) {
      result.set_double(at, sum_of(shares, c.in(0)));
      return;
    }
    const double gradient = c.in(0).get_double(at);
    for (const Share& share : shares) sums[static_cast<std::size_t>(share.cell)] += share.weight * gradient;
  });
  for (std::size_t i = 0; i < sums.size(); ++i) result.set_double(static_cast<std::int64_t>(i), sums[i]);
  return Value(result);
}

// Each is linear in its first tensor; the choice of cells is constant almost everywhere.
Partials vjp(const VjpCall& c, const Member& member) {
  const GradientRule rule(c);
  const std::size_t d = data_argument(member);
  const std::string family = member.align ? "roi_align" : "roi_pool";
  const std::string op =
      fmt::format("grad.{}_{}", family, member.kind == Kind::Backward ? "select" : "backward");
  Partials partials(c.call.args.size());
  if (rule.differentiable(0)) {
    partials[0] =
        call_op(op, {rule.cotangent(), rule.argument(d), rule.argument(d + 1)}, c.call.attributes).expr();
  }
  return partials;
}

}  // namespace relish::regions

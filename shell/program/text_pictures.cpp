// Bars of eighths and shades of characters.
#include "shell/program/text_pictures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/interrupt.h"

namespace relish {
namespace {

struct Range {
  double least = 0, most = 0;
  std::int64_t finite = 0, nans = 0;
  std::int64_t first_other = -1;  // that is not finite
};

// Calls `visit` with each index and value; a large tensor takes a while.
template <class Visit>
void for_each_value(const Tensor& tensor, const Visit& visit) {
  in_polled_parts(tensor.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) visit(i, tensor.get_double(i));
  });
}

Range range_of(const Tensor& tensor) {
  Range range;
  for_each_value(tensor, [&](std::int64_t i, double value) {
    if (!std::isfinite(value)) {
      if (range.first_other < 0) range.first_other = i;
      range.nans += std::isnan(value);
      return;
    }
    range.least = range.finite == 0 ? value : std::min(range.least, value);
    range.most = range.finite == 0 ? value : std::max(range.most, value);
    ++range.finite;
  });
  return range;
}

// "3 of 6 not finite: 2 nan, 1 inf, first at (0, 2)"; empty when all are.
std::string others_of(const Tensor& tensor, const Range& range) {
  const std::int64_t count = tensor.size() - range.finite;
  if (count == 0) return {};
  std::vector<std::int64_t> place;
  std::int64_t rest = range.first_other;
  for (auto extent = tensor.shape().rbegin(); extent != tensor.shape().rend(); ++extent) {
    place.insert(place.begin(), rest % *extent);
    rest /= *extent;
  }
  const std::int64_t infinite = count - range.nans;
  return fmt::format("{} of {} not finite: {}{}{}, first at ({})", count, tensor.size(),
                     range.nans > 0 ? fmt::format("{} nan", range.nans) : "",
                     range.nans > 0 && infinite > 0 ? ", " : "",
                     infinite > 0 ? fmt::format("{} inf", infinite) : "", fmt::join(place, ", "));
}

// Of `most` characters the share, in eighths of one.
std::string bar_of(double share, int most) {
  constexpr std::string_view eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int count = static_cast<int>(std::lround(share * most * 8));
  std::string bar;
  for (int i = 0; i < count / 8; ++i) bar += "█";
  bar += eighths[count % 8];
  return bar;
}

// Where the value lies between the ends, from 0 to 1, also where their distance is beyond a double.
double place_in(const Range& range, double value) {
  if (range.most == range.least) return 0;
  const double half = range.most / 2 - range.least / 2;
  return std::clamp((value / 2 - range.least / 2) / half, 0.0, 1.0);
}

// How many finite values lie in each of as many ranges of equal width.
std::vector<std::int64_t> counts_of(const Tensor& tensor, const Range& range, int count) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(count), 0);
  for_each_value(tensor, [&](std::int64_t, double value) {
    if (!std::isfinite(value)) return;
    const int bin = static_cast<int>(place_in(range, value) * count);
    ++counts[static_cast<std::size_t>(std::min(bin, count - 1))];
  });
  return counts;
}

}  // namespace

std::string statistics_of(const Tensor& tensor) {
  const Range range = range_of(tensor);
  std::string text;
  if (range.finite > 0) {
    double sum = 0, squares = 0;
    for_each_value(tensor, [&](std::int64_t, double value) {
      if (std::isfinite(value)) sum += value;
    });
    const double mean = sum / static_cast<double>(range.finite);
    for_each_value(tensor, [&](std::int64_t, double value) {
      if (std::isfinite(value)) squares += (value - mean) * (value - mean);
    });
    text = fmt::format("mean {:.6g}  std {:.6g}  min {:.6g}  max {:.6g}", mean,
                       std::sqrt(squares / static_cast<double>(range.finite)), range.least, range.most);
  }
  if (const std::string others = others_of(tensor, range); !others.empty())
    text += (text.empty() ? "" : "  ") + others;
  return text;
}

std::string sparkline_of(const Tensor& tensor) {
  constexpr std::string_view heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr int width = 24, highest = 8;
  constexpr std::int64_t least_values = 16;
  const Range range = range_of(tensor);
  if (range.finite < least_values || range.most == range.least) return {};
  const std::vector<std::int64_t> counts = counts_of(tensor, range, width);
  const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  std::string line;
  for (const std::int64_t count : counts) {
    // What is there at all is seen.
    const auto height = static_cast<int>(std::ceil(static_cast<double>(count) / most * highest));
    line += heights[height];
  }
  return line;
}

std::string overview_line_of(const Tensor& tensor) {
  const std::string line = sparkline_of(tensor), statistics = statistics_of(tensor);
  return statistics.empty() || line.empty() ? statistics : statistics + "  |" + line + "|";
}

std::string histogram_of(const Tensor& tensor, int bins) {
  constexpr int most_bar = 40;
  const Range range = range_of(tensor);
  std::string text;
  if (range.finite > 0) {
    const int count = range.most == range.least ? 1 : bins;
    const std::vector<std::int64_t> counts = counts_of(tensor, range, count);
    const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
    for (int i = 0; i < count; ++i) {
      const double share = static_cast<double>(i) / count;
      const double begin = range.least * (1 - share) + range.most * share;
      const std::int64_t held = counts[static_cast<std::size_t>(i)];
      text +=
          fmt::format("{:>12.5g} {} {}\n", begin, bar_of(static_cast<double>(held) / most, most_bar), held);
    }
    text += fmt::format("{:>12.5g}", range.most);
  }
  if (const std::string others = others_of(tensor, range); !others.empty())
    text += (text.empty() ? "" : "\n") + others;
  return text.empty() ? "no elements" : text;
}

HeatCells heat_cells_of(const Tensor& tensor, int most_rows, int most_columns) {
  HeatCells cells;
  const auto& shape = tensor.shape();
  if (tensor.size() == 0) return cells;
  const std::int64_t height = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  const std::int64_t width = shape.empty() ? 1 : shape.back();
  const std::int64_t down = std::min<std::int64_t>(height, most_rows),
                     across = std::min<std::int64_t>(width, most_columns);
  cells.height = height;
  cells.width = width;
  cells.rows = static_cast<int>(down);
  cells.columns = static_cast<int>(across);
  // The mean of each block; one with a value that is not finite is none.
  bool any = false;
  for (std::int64_t r = 0; r < down; ++r) {
    for (std::int64_t c = 0; c < across; ++c) {
      double sum = 0, count = 0;
      for (std::int64_t y = r * height / down; y < (r + 1) * height / down; ++y)
        for (std::int64_t x = c * width / across; x < (c + 1) * width / across; ++x, ++count)
          sum += tensor.get_double(y * width + x);
      const double mean = sum / count;
      cells.values.push_back(mean);
      if (!std::isfinite(mean)) continue;
      cells.least = any ? std::min(cells.least, mean) : mean;
      cells.most = any ? std::max(cells.most, mean) : mean;
      any = true;
    }
  }
  return cells;
}

double HeatCells::place(int row, int column) const {
  const double here = value(row, column);
  return std::isfinite(here) ? place_in(Range{least, most}, here) : here;
}

std::string heat_map_of(const Tensor& tensor, int rows, int columns) {
  constexpr std::string_view shades[] = {" ", "░", "▒", "▓", "█"};
  constexpr int shade_count = 5;
  const HeatCells cells = heat_cells_of(tensor, rows, columns);
  if (cells.values.empty()) return "no elements";
  std::string text;
  for (int r = 0; r < cells.rows; ++r) {
    text += '|';
    for (int c = 0; c < cells.columns; ++c) {
      const double place = cells.place(r, c);
      const bool finite = std::isfinite(place);
      const int shade = finite ? std::min(static_cast<int>(place * shade_count), shade_count - 1) : 0;
      text += finite ? shades[shade] : std::string_view("!");
    }
    text += "|\n";
  }
  text +=
      fmt::format("'{}' {:.5g} to '{}' {:.5g}", shades[0], cells.least, shades[shade_count - 1], cells.most);
  if (cells.rows < cells.height || cells.columns < cells.width)
    text += fmt::format("; {} x {} elements by the means of {} x {} blocks", cells.height, cells.width,
                        cells.rows, cells.columns);
  return text;
}

}  // namespace relish

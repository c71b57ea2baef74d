// What both kinds of picture share: which curves stand in which chart, and the axes.
#include "train/report/chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace relish {
namespace {

struct ValueRange {
  double low = 0, high = 0;
  bool any = false;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
  }
};

// Round numbers in [low, high]: 1, 2 or 5 times a power of ten apart, about `wanted` of them.
std::vector<double> round_marks(double low, double high, int wanted) {
  const double rough = (high - low) / wanted;
  if (!(rough > 0) || !std::isfinite(rough)) return {low};
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  constexpr std::array factors = {1.0, 2.0, 5.0, 10.0};
  double apart = power * 10;
  for (const double factor : factors) {
    if (power * factor < rough) continue;
    apart = power * factor;
    break;
  }
  std::vector<double> marks;
  // Beside values of 1e16 a step may be no step at all.
  constexpr int most = 20;
  const double first = std::ceil(low / apart);
  for (int i = 0; i < most && (first + i) * apart <= high + apart * 1e-9; ++i)
    marks.push_back((first + i) * apart);
  return marks;
}

// Powers of ten, at most about `wanted`.
std::vector<double> decade_marks(double low, double high, int wanted) {
  const double first = std::ceil(std::log10(low) - 1e-9), last = std::floor(std::log10(high) + 1e-9);
  const double apart = std::max(1.0, std::ceil((last - first) / wanted));
  std::vector<double> marks;
  for (double exponent = first; exponent <= last; exponent += apart)
    marks.push_back(std::pow(10.0, exponent));
  return marks;
}

std::string last_part(const std::string& path) {
  std::string_view text = path;
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  const std::size_t slash = text.rfind('/');
  return std::string(slash == text.npos ? text : text.substr(slash + 1));
}

// The shortest ends of the paths that tell the runs apart.
std::vector<std::string> labels_of(const std::vector<RunRecord>& runs) {
  std::vector<std::string> labels;
  for (const RunRecord& run : runs) labels.push_back(last_part(run.path));
  std::vector<std::string> sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    for (std::size_t i = 0; i < runs.size(); ++i) labels[i] = runs[i].path;
  return labels;
}

}  // namespace

double Axis::place(double value) const {
  const auto scaled = [this](double x) { return logarithmic ? std::log10(x) : x; };
  const double width = scaled(high) - scaled(low);
  return width > 0 && std::isfinite(width) ? std::clamp((scaled(value) - scaled(low)) / width, 0.0, 1.0)
                                           : 0.5;
}

Axis axis_of_steps(const Chart& chart) {
  ValueRange range;
  for (const ChartCurve& curve : chart.curves)
    for (const CurvePoint& point : curve.points) range.add(point.step);
  constexpr int wanted = 6;
  Axis axis{range.low, range.high, false, {}};
  axis.marks = round_marks(axis.low, axis.high, wanted);
  return axis;
}

Axis axis_of_values(const Chart& chart) {
  ValueRange range;
  for (const ChartCurve& curve : chart.curves)
    for (const CurvePoint& point : curve.points) range.add(point.value);
  constexpr int wanted = 5;
  constexpr double two_decades = 100;
  Axis axis{range.low, range.high, range.low > 0 && range.high / range.low > two_decades, {}};
  if (axis.low == axis.high) {
    const double margin = axis.low == 0 ? 1 : std::abs(axis.low) / 2;
    axis.low -= margin;
    axis.high += margin;
  }
  axis.marks =
      axis.logarithmic ? decade_marks(axis.low, axis.high, wanted) : round_marks(axis.low, axis.high, wanted);
  return axis;
}

std::vector<Chart> charts_of(const std::vector<RunRecord>& runs, const std::vector<std::string>& metrics) {
  std::vector<std::string> wanted = metrics;
  if (wanted.empty()) {
    wanted = {"loss"};
    for (const RunRecord& run : runs) {
      const std::string judged(base_of_metric(judged_metric(run)));
      const bool known = std::find(wanted.begin(), wanted.end(), judged) != wanted.end();
      if (!judged.empty() && judged != "epoch_loss" && !known) wanted.push_back(judged);
    }
  }
  const std::vector<std::string> labels = labels_of(runs);
  std::vector<Chart> charts;
  for (const std::string& name : wanted) {
    Chart chart{name, {}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      for (const std::string& curve_name : {name, "validation_" + name}) {
        const Curve* curve = runs[i].curve(curve_name);
        if (curve == nullptr) continue;
        chart.curves.push_back({runs.size() == 1 ? curve_name : labels[i] + " " + curve_name, curve->points});
      }
    }
    if (!chart.curves.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace relish

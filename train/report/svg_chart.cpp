// Charts as one SVG picture, readable on a light and on a dark page since it brings its own ground. Lengths
// are in pixels; a curve of many points keeps the least and the greatest of each column of pixels.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "train/report/chart.h"
#include "train/report/markup.h"

namespace relish {
namespace {

constexpr double page_width = 800, chart_height = 360;  // of a chart
constexpr double margin_left = 80, margin_right = 20, margin_top = 40, margin_bottom = 40;
constexpr double line_height = 18;
constexpr std::array line_colors = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728",
                                    "#9467bd", "#8c564b", "#e377c2", "#17becf"};
constexpr std::array line_dashes = {"", "6 3", "2 3", "10 4 2 4"};

// In each column of pixels the first, least, greatest and last point, in their order.
std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& points, const Axis& steps) {
  constexpr double most_in_column = 4;
  if (static_cast<double>(points.size()) <= most_in_column * page_width) return points;
  std::vector<CurvePoint> kept;
  const auto column_of = [&](const CurvePoint& point) {
    return std::floor(steps.place(point.step) * page_width);
  };
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin, least = begin, greatest = begin;
    for (; end < points.size() && column_of(points[end]) == column_of(points[begin]); ++end) {
      if (points[end].value < points[least].value) least = end;
      if (points[end].value > points[greatest].value) greatest = end;
    }
    std::array places = {begin, least, greatest, end - 1};
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < places.size(); ++i)
      if (i == 0 || places[i] != places[i - 1]) kept.push_back(points[places[i]]);
    begin = end;
  }
  return kept;
}

double height_of(const Chart& chart) {
  return chart_height + line_height * static_cast<double>(chart.curves.size());
}

// Where values stand on the page, for a chart that begins at `y`.
struct Frame {
  Axis steps, values;
  double y;
  double across(double step) const {
    return margin_left + steps.place(step) * (page_width - margin_left - margin_right);
  }
  double down(double value) const {
    return y + margin_top + (1 - values.place(value)) * (chart_height - margin_top - margin_bottom);
  }
};

void add_marks(std::string& svg, const Frame& frame) {
  const double lower = frame.y + chart_height - margin_bottom;
  for (const double mark : frame.values.marks) {
    const double at = frame.down(mark);
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#dddddd\"/>\n", margin_left, at,
                       page_width - margin_right);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", margin_left - 8,
                       at + 4, short_number(mark));
  }
  for (const double mark : frame.steps.marks) {
    const double at = frame.across(mark);
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}v5\" stroke=\"#888888\"/>\n", at, lower);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", at, lower + 18,
                       short_number(mark));
  }
  svg += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\" fill=\"none\" stroke=\"#888888\"/>\n",
                     margin_left, frame.y + margin_top, lower, page_width - margin_right);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">step</text>\n",
                     page_width - margin_right, lower + 34);
}

void add_curve(std::string& svg, const Frame& frame, const ChartCurve& curve, std::size_t number) {
  const char* color = line_colors[number % line_colors.size()];
  const char* dash = line_dashes[number / line_colors.size() % line_dashes.size()];
  const std::string stroke =
      fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"{}\"", color,
                  *dash == 0 ? "none" : dash);
  const std::vector<CurvePoint> points = thinned(curve.points, frame.steps);
  if (points.size() == 1) {
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n",
                       frame.across(points[0].step), frame.down(points[0].value), color);
  } else if (!points.empty()) {
    svg += "<polyline points=\"";
    for (const CurvePoint& point : points)
      svg += fmt::format("{:.1f},{:.1f} ", frame.across(point.step), frame.down(point.value));
    svg.back() = '"';
    svg += " " + stroke + "/>\n";
  }
  const double at = frame.y + chart_height + line_height * static_cast<double>(number);
  svg += fmt::format("<path d=\"M{:.1f} {:.1f}h30\" {}/>\n", margin_left, at, stroke);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\">{}{}</text>\n", margin_left + 38, at + 4, as_markup(curve.label),
      curve.points.empty() ? " (no finite value)" : ", last " + short_number(curve.points.back().value));
}

}  // namespace

std::string svg_charts(const std::vector<Chart>& charts) {
  double whole = 10;
  for (const Chart& chart : charts) whole += height_of(chart);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n",
      page_width, whole);
  double y = 0;
  for (const Chart& chart : charts) {
    const Frame frame{axis_of_steps(chart), axis_of_values(chart), y};
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"15\">{}{}</text>\n", margin_left, y + 25,
                       as_markup(chart.title), frame.values.logarithmic ? " (logarithmic)" : "");
    add_marks(svg, frame);
    for (std::size_t i = 0; i < chart.curves.size(); ++i) add_curve(svg, frame, chart.curves[i], i);
    y += height_of(chart);
  }
  return svg + "</svg>\n";
}

}  // namespace relish

// A chart of braille characters: each has two columns of four dots. Curves are told apart by their dashes
// and, where there are colours, by these.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "support/render.h"
#include "train/report/chart.h"

namespace relish {
namespace {

constexpr int dots_across = 2, dots_down = 4;  // of a character

// How many dots of a line are drawn and left out, by turns; the first is drawn whole.
struct Dashes {
  int on, off;
};
constexpr std::array<Dashes, 5> dashes = {{{1, 0}, {3, 2}, {1, 2}, {6, 3}, {2, 6}}};
constexpr std::array curve_colors = {36, 33, 35, 32, 34, 31};

class Canvas {
 public:
  Canvas(int columns, int rows)
      : columns_(columns),
        rows_(rows),
        dots_(static_cast<std::size_t>(columns * rows), 0),
        curves_(dots_.size(), -1) {}

  int width() const { return columns_ * dots_across; }
  int height() const { return rows_ * dots_down; }

  void set(int x, int y, int curve) {
    x = std::clamp(x, 0, width() - 1);
    y = std::clamp(y, 0, height() - 1);
    const auto cell = static_cast<std::size_t>(y / dots_down * columns_ + x / dots_across);
    // The order of dots in the code points from U+2800 on.
    constexpr unsigned char bits[dots_down][dots_across] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    dots_[cell] |= bits[y % dots_down][x % dots_across];
    curves_[cell] = curve;
  }

  // A straight line, of which `drawn` dots of the curve were made before.
  void line(int x0, int y0, int x1, int y1, int curve, int& drawn) {
    const Dashes& dash = dashes[static_cast<std::size_t>(curve) % dashes.size()];
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= steps; ++i) {
      const bool on = drawn++ % (dash.on + dash.off) < dash.on;
      if (!on) continue;
      set(x0 + static_cast<int>(std::lround(double(x1 - x0) * i / steps)),
          y0 + static_cast<int>(std::lround(double(y1 - y0) * i / steps)), curve);
    }
  }

  std::string row(int index, bool color) const {
    std::string text;
    int shown = -1;
    for (int column = 0; column < columns_; ++column) {
      const auto cell = static_cast<std::size_t>(index * columns_ + column);
      const int curve = dots_[cell] == 0 ? -1 : curves_[cell];
      if (color && curve != shown) {
        text += curve < 0 ? "\x1b[0m" : escape_of(curve);
        shown = curve;
      }
      const unsigned code = 0x2800U + dots_[cell];
      text += static_cast<char>(0xE0U | (code >> 12U));
      text += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
      text += static_cast<char>(0x80U | (code & 0x3FU));
    }
    if (color && shown >= 0) text += "\x1b[0m";
    return text;
  }

  static std::string escape_of(int curve) {
    return fmt::format("\x1b[{}m", curve_colors[static_cast<std::size_t>(curve) % curve_colors.size()]);
  }

 private:
  int columns_, rows_;
  std::vector<unsigned char> dots_;
  std::vector<int> curves_;
};

void draw(Canvas& canvas, const ChartCurve& curve, int number, const Axis& steps, const Axis& values) {
  int drawn = 0;
  std::optional<std::pair<int, int>> before;
  for (const CurvePoint& point : curve.points) {
    if (!std::isfinite(point.value)) continue;
    const int x = static_cast<int>(std::lround(steps.place(point.step) * (canvas.width() - 1)));
    const int y = static_cast<int>(std::lround((1 - values.place(point.value)) * (canvas.height() - 1)));
    const auto from = before.value_or(std::pair(x, y));
    canvas.line(from.first, from.second, x, y, number, drawn);
    before = {x, y};
  }
}

// A sample of the dashes of a curve, for the legend.
std::string sample_of(int number, bool color) {
  constexpr int columns = 4;
  Canvas canvas(columns, 1);
  int drawn = 0;
  canvas.line(0, 1, canvas.width() - 1, 1, number, drawn);
  return canvas.row(0, color);
}

}  // namespace

std::string braille_chart(const Chart& chart, const BrailleOptions& options) {
  const Axis steps = axis_of_steps(chart), values = axis_of_values(chart);
  Canvas canvas(options.columns, options.rows);
  for (std::size_t i = 0; i < chart.curves.size(); ++i)
    draw(canvas, chart.curves[i], static_cast<int>(i), steps, values);

  // Of marks that fall on the same row the one nearest to its middle.
  std::vector<std::string> marks(static_cast<std::size_t>(options.rows));
  std::vector<double> off(marks.size(), 1);
  for (const double mark : values.marks) {
    const double place = (1 - values.place(mark)) * (options.rows - 1);
    const auto row = static_cast<std::size_t>(std::lround(place));
    const double distance = std::abs(place - static_cast<double>(row));
    if (distance >= off[row]) continue;
    off[row] = distance;
    marks[row] = short_number(mark);
  }
  std::size_t widest = 0;
  for (const std::string& mark : marks) widest = std::max(widest, mark.size());

  std::string text = printable(chart.title) + (values.logarithmic ? " (logarithmic)" : "") + "\n";
  for (int row = 0; row < options.rows; ++row)
    text += fmt::format("{:>{}} ┤{}\n", marks[static_cast<std::size_t>(row)], widest,
                        canvas.row(row, options.color));
  const std::string first = short_number(steps.low), last = short_number(steps.high);
  const int gap = std::max(1, options.columns - static_cast<int>(first.size() + last.size()));
  text += fmt::format("{:>{}}  {}{:>{}}{} step\n", "", widest, first, "", gap, last);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const ChartCurve& curve = chart.curves[i];
    text += fmt::format(
        "{:>{}}  {} {}{}\n", "", widest, sample_of(static_cast<int>(i), options.color),
        printable(curve.label),
        curve.points.empty() ? " (no finite value)" : ", last " + short_number(curve.points.back().value));
  }
  return text;
}

}  // namespace relish

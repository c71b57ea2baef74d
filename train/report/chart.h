// Curves as pictures made of text: dots of braille characters for a terminal or a Markdown page, and SVG.
// Both show the same axes: of values that are positive and span more than two decades, the logarithm.
#pragma once

#include <string>
#include <vector>

#include "train/report/run_record.h"

namespace relish {

struct ChartCurve {
  std::string label;
  std::vector<CurvePoint> points;
};

// A chart with a title. Curves without points are named in the legend and nowhere else.
struct Chart {
  std::string title;
  std::vector<ChartCurve> curves;
};

// The value at the left or lower end, at the other end, and the marks between them.
struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<double> marks;
  // Where a value stands, 0 to 1.
  double place(double value) const;
};
Axis axis_of_steps(const Chart& chart);
Axis axis_of_values(const Chart& chart);

struct BrailleOptions {
  int columns = 72;  // of characters, without the numbers at the side
  int rows = 14;
  bool color = false;  // by terminal escapes; curves differ by their dashes too
};
std::string braille_chart(const Chart& chart, const BrailleOptions& options);
// One picture with the charts below each other.
std::string svg_charts(const std::vector<Chart>& charts);

// The charts of jobs side by side: of the metrics that are named, or else of the loss and of what the jobs
// are judged by. A name without "validation_" stands for both.
std::vector<Chart> charts_of(const std::vector<RunRecord>& runs, const std::vector<std::string>& metrics);

}  // namespace relish

// Pictures of pixels, for terminals that show them: as Kitty's graphics or as Sixel.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor.h"
#include "train/report/chart.h"

namespace relish {

struct Pixels {
  int width = 0, height = 0;
  std::vector<std::uint32_t> colors;  // 0xRRGGBB, row by row

  std::uint32_t& at(int x, int y) { return colors[static_cast<std::size_t>(y) * width + x]; }
  std::uint32_t at(int x, int y) const { return colors[static_cast<std::size_t>(y) * width + x]; }
};

enum class PictureForm : std::uint8_t { None, Sixel, Kitty };

// What a terminal says of itself by the variables of its environment: TERM, TERM_PROGRAM, KITTY_WINDOW_ID.
PictureForm picture_form_of(const std::map<std::string, std::string>& variables);
// Of the terminal that standard output is; none where it is no terminal.
PictureForm picture_form_of_terminal();

std::string picture_text(const Pixels& pixels, PictureForm form);

// A matrix, brighter for larger elements; red is what is not finite. A larger one by the means of its blocks.
Pixels heat_pixels(const Tensor& tensor);
// The curves with the axes of the chart in characters.
Pixels chart_pixels(const Chart& chart);

}  // namespace relish

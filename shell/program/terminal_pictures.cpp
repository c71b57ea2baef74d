// Escapes of the two forms, and what is drawn.
#include "shell/program/terminal_pictures.h"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "shell/program/text_pictures.h"
#include "support/base64.h"

namespace relish {
namespace {

constexpr std::uint32_t not_finite_color = 0xD22828, paper_color = 0xFFFFFF, frame_color = 0xB0B0B0;
constexpr std::uint32_t curve_colors[] = {0x1F77B4, 0xD62728, 0x2CA02C, 0xFF7F0E, 0x9467BD, 0x8C564B};
constexpr int longest_side = 480, largest_cell = 24, shade_steps = 64;

std::uint32_t red_of(std::uint32_t color) { return color >> 16; }
std::uint32_t green_of(std::uint32_t color) { return color >> 8 & 0xFF; }
std::uint32_t blue_of(std::uint32_t color) { return color & 0xFF; }

// From dark blue over green to yellow.
std::uint32_t shade_of(double place) {
  constexpr std::uint32_t anchors[] = {0x440154, 0x3B528B, 0x21918C, 0x5EC962, 0xFDE725};
  constexpr int parts = 4;
  const double exact = std::round(place * (shade_steps - 1)) / (shade_steps - 1) * parts;
  const int part = std::min(static_cast<int>(exact), parts - 1);
  const std::uint32_t a = anchors[part], b = anchors[part + 1];
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    const double value = from + (static_cast<double>(to) - from) * (exact - part);
    return static_cast<std::uint32_t>(std::lround(value));
  };
  return between(red_of(a), red_of(b)) << 16 | between(green_of(a), green_of(b)) << 8 |
         between(blue_of(a), blue_of(b));
}

std::string kitty_text(const Pixels& pixels) {
  std::string bytes;
  for (const std::uint32_t color : pixels.colors) {
    bytes += static_cast<char>(red_of(color));
    bytes += static_cast<char>(green_of(color));
    bytes += static_cast<char>(blue_of(color));
  }
  std::string encoded;
  append_base64(encoded, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  constexpr std::size_t most_at_once = 4096;
  std::string text;
  for (std::size_t at = 0; at < encoded.size(); at += most_at_once) {
    const bool more = at + most_at_once < encoded.size();
    const std::string head =
        at == 0 ? fmt::format("a=T,f=24,s={},v={},", pixels.width, pixels.height) : std::string();
    text += fmt::format("\x1b_G{}m={};{}\x1b\\", head, more ? 1 : 0,
                        std::string_view(encoded).substr(at, most_at_once));
  }
  return text;
}

// `count` times the sign of six dots.
void add_dots(std::string& text, char sign, int count) {
  if (count > 3)
    text += fmt::format("!{}{}", count, sign);
  else
    text.append(static_cast<std::size_t>(count), sign);
}

// One colour of a band of six rows.
void add_sixels(std::string& text, const Pixels& pixels, int top, std::uint32_t color) {
  constexpr int band = 6;
  char last = 0;
  int count = 0;
  for (int x = 0; x < pixels.width; ++x) {
    int dots = 0;
    for (int y = 0; y < band && top + y < pixels.height; ++y)
      if (pixels.at(x, top + y) == color) dots |= 1 << y;
    const char sign = static_cast<char>('?' + dots);
    if (sign != last) {
      add_dots(text, last, count);
      last = sign;
      count = 0;
    }
    ++count;
  }
  add_dots(text, last, count);
}

std::string sixel_text(const Pixels& pixels) {
  std::map<std::uint32_t, int> palette;
  for (const std::uint32_t color : pixels.colors) palette.emplace(color, static_cast<int>(palette.size()));
  std::string text = fmt::format("\x1bPq\"1;1;{};{}", pixels.width, pixels.height);
  for (const auto& [color, number] : palette) {
    const auto percent = [](std::uint32_t part) { return part * 100 / 255; };
    text += fmt::format("#{};2;{};{};{}", number, percent(red_of(color)), percent(green_of(color)),
                        percent(blue_of(color)));
  }
  constexpr int band = 6;
  for (int top = 0; top < pixels.height; top += band) {
    std::map<std::uint32_t, bool> used;
    for (int y = top; y < std::min(top + band, pixels.height); ++y)
      for (int x = 0; x < pixels.width; ++x) used[pixels.at(x, y)] = true;
    bool first = true;
    for (const auto& [color, here] : used) {
      if (!std::exchange(first, false)) text += '$';
      text += fmt::format("#{}", palette[color]);
      add_sixels(text, pixels, top, color);
    }
    text += '-';
  }
  return text + "\x1b\\";
}

void draw_line(Pixels& pixels, double x0, double y0, double x1, double y1, std::uint32_t color) {
  const int steps = std::max(1, static_cast<int>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0)))));
  for (int i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / steps;
    const int x = static_cast<int>(std::lround(x0 + (x1 - x0) * share));
    const int y = static_cast<int>(std::lround(y0 + (y1 - y0) * share));
    for (int below = 0; below < 2; ++below)
      if (x >= 0 && x < pixels.width && y + below >= 0 && y + below < pixels.height)
        pixels.at(x, y + below) = color;
  }
}

}  // namespace

PictureForm picture_form_of(const std::map<std::string, std::string>& variables) {
  const auto value = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  const std::string term = value("TERM"), program = value("TERM_PROGRAM");
  // What stands between shows no pictures of either form by itself.
  if (term.starts_with("screen") || term.starts_with("tmux") || term == "dumb") return PictureForm::None;
  if (term.find("kitty") != std::string::npos || !value("KITTY_WINDOW_ID").empty() || program == "WezTerm" ||
      program == "ghostty")
    return PictureForm::Kitty;
  if (term.find("sixel") != std::string::npos || term.starts_with("mlterm") || term.starts_with("foot") ||
      program == "mintty" || program == "mlterm")
    return PictureForm::Sixel;
  return PictureForm::None;
}

PictureForm picture_form_of_terminal() {
  if (isatty(STDOUT_FILENO) == 0) return PictureForm::None;
  std::map<std::string, std::string> variables;
  for (const char* name : {"TERM", "TERM_PROGRAM", "KITTY_WINDOW_ID"})
    if (const char* value = std::getenv(name)) variables[name] = value;
  return picture_form_of(variables);
}

std::string picture_text(const Pixels& pixels, PictureForm form) {
  if (pixels.colors.empty() || form == PictureForm::None) return {};
  return form == PictureForm::Kitty ? kitty_text(pixels) : sixel_text(pixels);
}

Pixels heat_pixels(const Tensor& tensor) {
  const HeatCells cells = heat_cells_of(tensor, longest_side, longest_side);
  const int size = std::clamp(longest_side / std::max({cells.rows, cells.columns, 1}), 1, largest_cell);
  Pixels pixels{cells.columns * size, cells.rows * size, {}};
  pixels.colors.resize(static_cast<std::size_t>(pixels.width) * pixels.height);
  for (int y = 0; y < pixels.height; ++y) {
    for (int x = 0; x < pixels.width; ++x) {
      const double place = cells.place(y / size, x / size);
      pixels.at(x, y) = std::isfinite(place) ? shade_of(place) : not_finite_color;
    }
  }
  return pixels;
}

Pixels chart_pixels(const Chart& chart) {
  Pixels pixels{640, 240, {}};
  pixels.colors.assign(static_cast<std::size_t>(pixels.width) * pixels.height, paper_color);
  const Axis steps = axis_of_steps(chart), values = axis_of_values(chart);
  const double right = pixels.width - 2, bottom = pixels.height - 3;
  draw_line(pixels, 0, 0, 0, bottom, frame_color);
  draw_line(pixels, 0, bottom, right, bottom, frame_color);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const std::uint32_t color = curve_colors[i % std::size(curve_colors)];
    const CurvePoint* before = nullptr;
    for (const CurvePoint& point : chart.curves[i].points) {
      if (!std::isfinite(point.value)) {
        before = nullptr;
        continue;
      }
      const CurvePoint& from = before ? *before : point;
      draw_line(pixels, steps.place(from.step) * right, (1 - values.place(from.value)) * bottom,
                steps.place(point.step) * right, (1 - values.place(point.value)) * bottom, color);
      before = &point;
    }
  }
  return pixels;
}

}  // namespace relish

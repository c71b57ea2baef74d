// Pictures of pixels: what they say is read back from their escapes.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "shell/program/terminal_pictures.h"
#include "support/base64.h"

using namespace relish;

namespace {

// The pixels of a Kitty picture, as bytes.
std::string bytes_of_kitty(const std::string& text, const std::string& head) {
  REQUIRE(text.starts_with("\x1b_Ga=T,f=24," + head));
  std::string encoded;
  bool more = true;
  for (std::size_t at = 0; at < text.size();) {
    CHECK(more);
    const std::size_t begin = text.find(';', at), end = text.find("\x1b\\", at);
    REQUIRE(begin < end);
    more = text.substr(at, begin - at).find("m=1") != std::string::npos;
    CHECK(end - begin - 1 <= 4096);
    encoded += text.substr(begin + 1, end - begin - 1);
    at = end + 2;
  }
  CHECK_FALSE(more);
  std::string bytes(base64_bytes(encoded), 0);
  Base64Reader reader(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size());
  CHECK(reader.read(encoded));
  return bytes;
}

// The pixels of a Sixel picture by numbers of colours.
std::vector<std::vector<int>> rows_of_sixel(const std::string& text, int width, int height) {
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(height),
                                     std::vector<int>(static_cast<std::size_t>(width), -1));
  std::size_t at = text.find_first_of("#", text.find('q'));
  int color = 0, x = 0, top = 0, repeat = 1;
  const auto number = [&] {
    int value = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') value = value * 10 + (text[at++] - '0');
    return value;
  };
  while (at < text.size() && text[at] != '\x1b') {
    const char c = text[at++];
    if (c == '#') {
      color = number();
      while (text[at] == ';') ++at, number();
    } else if (c == '!') {
      repeat = number();
    } else if (c == '$') {
      x = 0;
    } else if (c == '-') {
      x = 0;
      top += 6;
    } else {
      REQUIRE((c >= '?' && c <= '~'));
      for (; repeat > 0; --repeat, ++x)
        for (int y = 0; y < 6; ++y)
          if ((c - '?') >> y & 1)
            rows.at(static_cast<std::size_t>(top + y)).at(static_cast<std::size_t>(x)) = color;
      repeat = 1;
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("a terminal says which pictures it shows") {
  CHECK(picture_form_of({{"TERM", "xterm-kitty"}}) == PictureForm::Kitty);
  CHECK(picture_form_of({{"TERM", "xterm-256color"}, {"KITTY_WINDOW_ID", "1"}}) == PictureForm::Kitty);
  CHECK(picture_form_of({{"TERM", "foot"}}) == PictureForm::Sixel);
  CHECK(picture_form_of({{"TERM", "xterm"}, {"TERM_PROGRAM", "mintty"}}) == PictureForm::Sixel);
  CHECK(picture_form_of({{"TERM", "xterm-256color"}}) == PictureForm::None);
  CHECK(picture_form_of({{"TERM", "tmux-256color"}, {"KITTY_WINDOW_ID", "1"}}) == PictureForm::None);
  CHECK(picture_form_of({}) == PictureForm::None);
}

TEST_CASE("pictures have the pixels that were drawn") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Pixels pixels = heat_pixels(Tensor::from<float>({2, 3}, std::vector<float>{0, 1, 2, 3, 4, nan}));
  CHECK(pixels.width == 3 * 24);
  CHECK(pixels.height == 2 * 24);
  CHECK(pixels.at(0, 0) == 0x440154);
  CHECK(pixels.at(24 + 23, 24) == 0xFDE725);
  CHECK(pixels.at(71, 47) == 0xD22828);
  CHECK(picture_text(pixels, PictureForm::None).empty());
  const std::string bytes = bytes_of_kitty(picture_text(pixels, PictureForm::Kitty), "s=72,v=48,");
  REQUIRE(bytes.size() == 72 * 48 * 3);
  CHECK(bytes.substr(0, 3) == "\x44\x01\x54");
  CHECK(bytes.substr(bytes.size() - 3) == "\xD2\x28\x28");
  const auto rows = rows_of_sixel(picture_text(pixels, PictureForm::Sixel), 72, 48);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 72; ++x) {
      const int own = rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
      REQUIRE(own >= 0);
      // The same number where the colour is the same.
      REQUIRE((own == rows[0][0]) == (pixels.at(x, y) == pixels.at(0, 0)));
    }
}

TEST_CASE("curves go from corner to corner") {
  Chart chart;
  chart.curves.push_back({"x", {{0, 0}, {1, 1}, {2, 2}}});
  const Pixels pixels = chart_pixels(chart);
  int drawn = 0;
  for (int x = 0; x < pixels.width; ++x)
    for (int y = 0; y < pixels.height; ++y) drawn += pixels.at(x, y) == 0x1F77B4;
  // A line, not an area.
  CHECK(drawn >= pixels.width - 20);
  CHECK(drawn < pixels.width * 4);
  CHECK(pixels.at(pixels.width / 2, pixels.height - 40) == 0xFFFFFF);
}

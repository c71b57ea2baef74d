// Draws a data set of handwritten-looking digits and writes it in the file layout of MNIST, so that a script
// for one reads the other. A digit is a few strokes in a unit box; every image bends, turns, shears, scales
// and shifts them by random amounts, draws them with a pen of random width and adds noise. Image i of a set
// depends on the seed, the set and i only.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files.h"
#include "runtime/philox.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr int image_size = 28;
constexpr int digit_count = 10;

struct Point {
  double x = 0;  // to the right
  double y = 0;  // down
};
using Stroke = std::vector<Point>;
using Glyph = std::vector<Stroke>;

// Points of an ellipse; angles in degrees, 0 to the right, growing clockwise on the page.
Stroke arc(Point center, double radius_x, double radius_y, double from, double to) {
  constexpr double degrees_a_step = 15;
  int steps = std::max(static_cast<int>(std::fabs(to - from) / degrees_a_step), 2);
  Stroke stroke;
  for (int i = 0; i <= steps; ++i) {
    double angle = (from + (to - from) * i / steps) * std::numbers::pi / 180;
    stroke.push_back({center.x + radius_x * std::cos(angle), center.y + radius_y * std::sin(angle)});
  }
  return stroke;
}

// Points of the quadratic curve from `a` to `c` that `b` attracts.
Stroke bend(Point a, Point b, Point c) {
  constexpr int steps = 10;
  Stroke stroke;
  for (int i = 0; i <= steps; ++i) {
    double t = static_cast<double>(i) / steps;
    double s = 1 - t;
    stroke.push_back(
        {s * s * a.x + 2 * s * t * b.x + t * t * c.x, s * s * a.y + 2 * s * t * b.y + t * t * c.y});
  }
  return stroke;
}

// One stroke of several pieces.
Stroke join(std::initializer_list<Stroke> pieces) {
  Stroke stroke;
  for (const Stroke& piece : pieces) stroke.insert(stroke.end(), piece.begin(), piece.end());
  return stroke;
}

// The ways in which people write each digit.
std::vector<std::vector<Glyph>> make_alphabet() {
  std::vector<std::vector<Glyph>> ways(digit_count);
  ways[0] = {{arc({.5, .5}, .33, .5, -90, 270)},
             {arc({.5, .5}, .24, .5, -70, 290)},
             {join({arc({.5, .52}, .34, .48, -60, 280), {{.62, .12}}})}};
  ways[1] = {{{{.5, 0}, {.5, 1}}},
             {{{.28, .24}, {.52, 0}, {.52, 1}}},
             {{{.28, .24}, {.52, 0}, {.52, 1}}, {{.28, 1}, {.76, 1}}}};
  ways[2] = {{join({arc({.5, .28}, .3, .28, 190, 400), {{.2, 1}, {.82, 1}}})},
             {join({arc({.48, .27}, .3, .27, 200, 410), bend({.66, .48}, {.45, .75}, {.3, .82}),
                    arc({.26, .9}, .11, .09, -60, -330), bend({.36, .92}, {.6, 1.05}, {.85, .92})})},
             {join({arc({.5, .3}, .32, .3, 180, 380), bend({.8, .4}, {.7, .65}, {.18, .98}), {{.84, .94}}})}};
  ways[3] = {{join({arc({.47, .26}, .28, .26, 200, 450), arc({.47, .75}, .32, .25, 270, 520)})},
             {join({{{.2, .02}, {.76, 0}, {.46, .4}}, arc({.45, .7}, .34, .3, 270, 510)})},
             {join({arc({.45, .25}, .3, .25, 220, 430), {{.42, .5}}, arc({.45, .74}, .36, .26, 290, 500)})}};
  ways[4] = {{{{.32, 0}, {.18, .6}, {.84, .6}}, {{.66, .2}, {.64, 1}}},
             {{{.66, 1}, {.66, 0}, {.14, .68}, {.88, .68}}},
             {join({bend({.26, .02}, {.16, .55}, {.4, .55}), {{.72, .5}}}), {{.74, 0}, {.7, 1}}}};
  ways[5] = {{join({{{.76, 0}, {.28, .02}, {.25, .46}}, arc({.46, .69}, .32, .31, 225, 500)})},
             {join({{{.34, .04}, {.28, .45}}, arc({.44, .7}, .34, .3, 240, 490)}), {{.32, .05}, {.82, 0}}},
             {join({{{.74, .03}, {.36, .0}},
                    bend({.36, 0}, {.2, .4}, {.5, .48}),
                    bend({.5, .48}, {.95, .62}, {.62, .92}),
                    {{.22, .98}}})}};
  ways[6] = {{join({bend({.7, 0}, {.2, .2}, {.2, .7}), arc({.5, .72}, .3, .28, 180, 540)})},
             {join({{{.58, 0}, {.24, .6}}, arc({.5, .73}, .28, .27, 190, 530)})},
             {join({bend({.76, .08}, {.16, .0}, {.18, .72}), arc({.47, .76}, .29, .24, 180, 500)})}};
  ways[7] = {{{{.18, .02}, {.8, 0}, {.42, 1}}},
             {{{.18, .02}, {.8, 0}, {.42, 1}}, {{.36, .5}, {.76, .48}}},
             {join({{{.18, .16}, {.2, .02}, {.82, .03}}, bend({.82, .03}, {.5, .4}, {.46, 1})})}};
  Stroke crossing;
  constexpr int crossing_steps = 28;
  for (int i = 0; i <= crossing_steps; ++i) {
    double t = 2 * std::numbers::pi * i / crossing_steps;
    crossing.push_back({.5 + .3 * std::sin(2 * t), .5 - .5 * std::cos(t)});
  }
  ways[8] = {{arc({.5, .24}, .25, .24, 90, 450), arc({.5, .74}, .31, .26, -90, 270)},
             {crossing},
             {join({arc({.52, .25}, .26, .25, -30, -260), arc({.48, .74}, .3, .26, -80, 200),
                    bend({.2, .65}, {.4, .45}, {.74, .14})})}};
  ways[9] = {{arc({.48, .28}, .28, .28, 0, 360), {{.76, .26}, {.7, 1}}},
             {join({arc({.48, .28}, .28, .28, 0, -350), bend({.76, .28}, {.8, .95}, {.3, .98})})},
             {join({arc({.47, .3}, .27, .27, -40, -330), {{.74, .1}, {.62, 1}}})}};
  return ways;
}

// Numbers drawn one after the other from a key.
class Random {
 public:
  explicit Random(RandomKey key) : key_(key) {}
  std::uint32_t word() { return random_word(key_, next_++); }
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((std::uint64_t{word()} * bound) >> 32);
  }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(uniform_float(word()));
  }
  double normal(double deviation) {
    std::uint32_t high = word();
    return deviation * standard_normal(high, word());
  }

 private:
  RandomKey key_;
  std::uint64_t next_ = 0;
};

// A random map of the unit box into the image: slow waves, then shear, scale, rotation and shift.
class Distortion {
 public:
  explicit Distortion(Random& random) {
    for (Wave& wave : waves_) {
      wave = {random.normal(.025), random.uniform(.5, 1.4), random.uniform(0, 1)};
    }
    double angle = random.normal(6) * std::numbers::pi / 180;
    double shear = random.normal(.11);
    double height = random.uniform(17, 21);
    double width = height * random.uniform(.8, 1.1);
    double cosine = std::cos(angle);
    double sine = std::sin(angle);
    // Columns of the product rotation * shear * scale.
    xx_ = cosine * width;
    yx_ = sine * width;
    xy_ = (-cosine * shear - sine) * height;
    yy_ = (-sine * shear + cosine) * height;
    shift_ = {image_size / 2.0 + random.normal(.8), image_size / 2.0 + random.normal(.8)};
  }

  Point operator()(Point p) const {
    double x = p.x - .5 + waves_[0].at(p.y) + waves_[1].at(p.x);
    double y = p.y - .5 + waves_[2].at(p.x) + waves_[3].at(p.y);
    return {shift_.x + xx_ * x + xy_ * y, shift_.y + yx_ * x + yy_ * y};
  }

 private:
  struct Wave {
    double height = 0;
    double frequency = 0;
    double phase = 0;
    double at(double t) const { return height * std::sin(2 * std::numbers::pi * (frequency * t + phase)); }
  };
  Wave waves_[4];
  double xx_ = 0, xy_ = 0, yx_ = 0, yy_ = 0;
  Point shift_;
};

double distance_to_segment(Point p, Point a, Point b) {
  double dx = b.x - a.x;
  double dy = b.y - a.y;
  double length_squared = dx * dx + dy * dy;
  double t = length_squared > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length_squared : 0;
  t = std::clamp(t, 0.0, 1.0);
  double ex = p.x - a.x - t * dx;
  double ey = p.y - a.y - t * dy;
  return std::sqrt(ex * ex + ey * ey);
}

using Canvas = std::vector<double>;  // distance of each pixel's middle to the nearest stroke

void draw_segment(Canvas& distances, Point a, Point b, double reach) {
  int left = std::clamp(static_cast<int>(std::floor(std::min(a.x, b.x) - reach)), 0, image_size - 1);
  int right = std::clamp(static_cast<int>(std::ceil(std::max(a.x, b.x) + reach)), 0, image_size - 1);
  int top = std::clamp(static_cast<int>(std::floor(std::min(a.y, b.y) - reach)), 0, image_size - 1);
  int bottom = std::clamp(static_cast<int>(std::ceil(std::max(a.y, b.y) + reach)), 0, image_size - 1);
  for (int row = top; row <= bottom; ++row) {
    for (int column = left; column <= right; ++column) {
      double& nearest =
          distances[static_cast<std::size_t>(row) * image_size + static_cast<std::size_t>(column)];
      nearest = std::min(nearest, distance_to_segment({column + .5, row + .5}, a, b));
    }
  }
}

void draw_digit(const Glyph& glyph, Random& random, std::uint8_t* pixels) {
  Distortion distortion(random);
  double half_width = random.uniform(.65, 1.75);
  double softness = random.uniform(.8, 1.5);
  double ink = random.uniform(185, 255);
  double noise = random.uniform(2, 22);
  double reach = half_width + softness + 1;
  Canvas distances(static_cast<std::size_t>(image_size) * image_size, reach);
  for (const Stroke& stroke : glyph) {
    // A little of every point's place is its own, and the pen does not always reach the end.
    Stroke drawn;
    for (Point p : stroke)
      drawn.push_back(distortion({p.x + random.normal(.008), p.y + random.normal(.008)}));
    for (std::size_t i = 1; i < drawn.size(); ++i) draw_segment(distances, drawn[i - 1], drawn[i], reach);
  }
  for (double distance : distances) {
    double coverage = std::clamp((half_width - distance) / softness + .5, 0.0, 1.0);
    double value = ink * coverage + random.normal(noise);
    *pixels++ = static_cast<std::uint8_t>(std::clamp(std::floor(value + .5), 0.0, 255.0));
  }
}

// Images (count, 28, 28) and labels (count,), both uint8.
std::pair<Tensor, Tensor> draw_set(RandomKey key, std::int64_t count) {
  std::vector<std::vector<Glyph>> alphabet = make_alphabet();
  Tensor images = Tensor::empty(DType::UInt8, {count, image_size, image_size});
  Tensor labels = Tensor::empty(DType::UInt8, {count});
  auto pixels = images.mutable_view<std::uint8_t>();
  auto digits = labels.mutable_view<std::uint8_t>();
  for (std::size_t i = 0; i < digits.size(); ++i) {
    Random random(fold_in(key, i));
    std::uint32_t digit = random.below(digit_count);
    const std::vector<Glyph>& ways = alphabet[digit];
    digits[i] = static_cast<std::uint8_t>(digit);
    draw_digit(ways[random.below(static_cast<std::uint32_t>(ways.size()))], random,
               &pixels[i * image_size * image_size]);
  }
  return {std::move(images), std::move(labels)};
}

struct Options {
  std::string folder;
  std::int64_t train = 12000;
  std::int64_t test = 2000;
  std::int64_t seed = 0;
};

constexpr std::string_view usage = "usage: make_digits FOLDER [--train 12000] [--test 2000] [--seed 0]";

Options read_options(int count, char** arguments) {
  Options options;
  auto wrong = [](std::string_view what) {
    fail(ErrorClass::Usage, {}, "", fmt::format("{}; {}", what, usage));
  };
  for (int i = 1; i < count; ++i) {
    std::string_view argument = arguments[i];
    std::int64_t* number = argument == "--train"  ? &options.train
                           : argument == "--test" ? &options.test
                           : argument == "--seed" ? &options.seed
                                                  : nullptr;
    if (number == nullptr) {
      if (argument.starts_with("--")) wrong(fmt::format("unknown option '{}'", printable(argument)));
      if (!options.folder.empty()) wrong("more than one folder");
      options.folder = argument;
      continue;
    }
    if (++i == count) wrong(fmt::format("{} needs a number", argument));
    std::string_view text = arguments[i];
    auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    constexpr std::int64_t most = 10'000'000;
    bool in_range = *number >= 0 && *number <= most;
    if (error != std::errc() || rest != text.data() + text.size() || !in_range) {
      wrong(fmt::format("'{}' is not a number from 0 to {}", printable(text), most));
    }
  }
  if (options.folder.empty()) wrong("no folder given");
  return options;
}

void make_digits(const Options& options) {
  RandomKey key = key_from_seed(static_cast<std::uint64_t>(options.seed));
  struct Set {
    std::string_view name;
    std::int64_t count;
    std::uint64_t number;
  };
  for (const Set& set : {Set{"train", options.train, 0}, Set{"t10k", options.test, 1}}) {
    auto [images, labels] = draw_set(fold_in(key, set.number), set.count);
    write_idx_gz(fmt::format("{}/{}-images-idx3-ubyte.gz", options.folder, set.name), images);
    write_idx_gz(fmt::format("{}/{}-labels-idx1-ubyte.gz", options.folder, set.name), labels);
  }
}

}  // namespace
}  // namespace relish

int main(int count, char** arguments) {
  try {
    relish::make_digits(relish::read_options(count, arguments));
    return 0;
  } catch (const relish::Failure& failure) {
    std::string text = relish::render(failure.diagnostics(), relish::Sources::instance(), {});
    std::fputs(text.c_str(), stderr);
    return failure.exit_code();
  }
}

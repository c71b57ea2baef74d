// The attributes of resampling, read and checked.
#include "stdlib/families/windows/resampling_attributes.h"

#include <fmt/format.h>

namespace relish::resampling {

using windows::Layout;

namespace {

template <class Enum, std::size_t count>
Enum choice(const CallView& call, std::string_view name,
            const std::pair<std::string_view, Enum> (&values)[count]) {
  const std::string text = call.string_attribute(name);
  std::string expected;
  for (const auto& [word, value] : values) {
    if (word == text) return value;
    if (!word.empty()) expected += (expected.empty() ? "" : ", ") + std::string(word);
  }
  call.reject(name, call.span, fmt::format("{} is \"{}\", expected one of {}", name, text, expected));
}

// A list of numbers; None gives zeros.
std::vector<double> numbers_attribute(const CallView& call, std::string_view name, std::size_t count) {
  const Attribute& value = call.attribute(name);
  if (value.is_none()) return std::vector<double>(count, 0.0);
  std::vector<double> result;
  const auto add = [&](const Attribute& item) {
    if (const auto* real = item.as<double>())
      result.push_back(*real);
    else if (const auto* integer = item.as<std::int64_t>())
      result.push_back(static_cast<double>(*integer));
  };
  if (const auto* list = value.as<AttributeList>())
    for (const Attribute& item : *list) add(item);
  else
    result.assign(count, number_attribute(call, name));
  if (result.size() != count) {
    call.reject(name, call.span, fmt::format("{} has {} numbers, expected {}", name, result.size(), count));
  }
  return result;
}

constexpr std::pair<std::string_view, Method> methods[] = {
    {"nearest_neighbor", Method::Nearest}, {"linear", Method::Linear},    {"cubic", Method::Cubic},
    {"bilinear", Method::Linear},          {"trilinear", Method::Linear}, {"bicubic", Method::Cubic},
    {"nearest", Method::Nearest}};
constexpr std::pair<std::string_view, Coordinates> coordinate_modes[] = {
    {"half_pixel", Coordinates::HalfPixel},
    {"align_corners", Coordinates::AlignCorners},
    {"asymmetric", Coordinates::Asymmetric},
    {"pytorch_half_pixel", Coordinates::PytorchHalfPixel},
    {"tf_half_pixel_for_nn", Coordinates::HalfPixelForNearest},
    {"tf_crop_and_resize", Coordinates::Crop}};
constexpr std::pair<std::string_view, Rounding> roundings[] = {{"round", Rounding::Even},
                                                               {"floor", Rounding::Floor},
                                                               {"ceil", Rounding::Ceil},
                                                               {"round_prefer_floor", Rounding::HalfDown},
                                                               {"round_prefer_ceil", Rounding::HalfUp},
                                                               {"", Rounding::Even}};

}  // namespace

Sampling sampling_of(const CallView& call, const Member& member) {
  int rank = member.rank;
  if (rank == 0) {
    const int letters = windows::letters_of(call.string_attribute("layout"));
    rank = letters - 2;
    if (rank < 1 || rank > 3)
      call.reject("layout", call.span, fmt::format("layout has {} letters, expected 3, 4 or 5", letters));
  }
  const std::string order = "NC" + std::string(windows::spatial_letters(rank));
  constexpr windows::Blocks blocks = windows::Blocks::Allowed;
  const Layout data(call, "layout", order, nullptr, blocks);
  if (member.source == Source::Adaptive) {
    const Layout out(call, "out_layout", order, &data, blocks);
    return {.rank = rank, .data = data, .out = out, .method = Method::Average};
  }
  Sampling sampling{.rank = rank, .data = data, .out = data, .method = choice(call, "method", methods)};
  if (member.source == Source::Upsampling) {
    sampling.rounding = Rounding::Floor;
    if (call.int_attribute("align_corners") != 0) sampling.coordinates = Coordinates::AlignCorners;
    return sampling;
  }
  sampling.coordinates = choice(call, "coordinate_transformation_mode", coordinate_modes);
  sampling.rounding = choice(call, "rounding_method", roundings);
  if (call.string_attribute("rounding_method").empty() && sampling.coordinates != Coordinates::AlignCorners)
    sampling.rounding = Rounding::Floor;
  sampling.alpha = number_attribute(call, "cubic_alpha");
  const std::int64_t exclude = call.int_attribute("cubic_exclude");
  if (exclude != 0 && exclude != 1)
    call.reject("cubic_exclude", call.span, fmt::format("cubic_exclude is {}, expected 0 or 1", exclude));
  sampling.exclude = exclude == 1;
  sampling.extrapolation = number_attribute(call, "extrapolation_value");
  const auto count = static_cast<std::size_t>(rank);
  const std::vector<double> roi = numbers_attribute(call, "roi", 2 * count);
  sampling.start.assign(roi.begin(), roi.begin() + rank);
  sampling.end.assign(roi.begin() + rank, roi.end());
  return sampling;
}

double number_attribute(const CallView& call, std::string_view name) {
  const Attribute& value = call.attribute(name);
  if (const auto* real = value.as<double>()) return *real;
  return static_cast<double>(call.int_attribute(name));
}

}  // namespace relish::resampling

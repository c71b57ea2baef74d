// What the attributes of a resampling call say, as numbers: which cells are near, how coordinates map, how
// they are rounded. Internal to the family: evaluation, lowering and gradient read the same values.
#pragma once

#include <vector>

#include "stdlib/families/windows/resampling.h"

namespace relish::resampling {

enum class Method : std::uint8_t { Nearest, Linear, Cubic, Average };
enum class Coordinates : std::uint8_t {
  HalfPixel,
  AlignCorners,
  Asymmetric,
  PytorchHalfPixel,
  HalfPixelForNearest,
  Crop,
};
enum class Rounding : std::uint8_t { Even, Floor, Ceil, HalfDown, HalfUp };

struct Sampling {
  int rank;
  windows::Layout data, out;
  Method method;
  Coordinates coordinates = Coordinates::Asymmetric;
  Rounding rounding = Rounding::Even;
  double alpha = -0.75;
  bool exclude = false;            // cubic: cells outside have no weight
  std::vector<double> start, end;  // Crop: the part of the data, from 0 to 1
  double extrapolation = 0;
};

// TypeError for a value that the attributes cannot have.
Sampling sampling_of(const CallView& call, const Member& member);
// An attribute that is a real or a whole number.
double number_attribute(const CallView& call, std::string_view name);

}  // namespace relish::resampling

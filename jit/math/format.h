// What the functions must know of float32 and float64.
#pragma once

#include <cstdint>
#include <limits>

#include "jit/math/lane.h"

namespace relish::jit {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double pi = 0x1.921fb54442d18p+1;
inline constexpr double log2_of_e = 0x1.71547652b82fep+0;
inline constexpr double log2_of_10 = 0x1.a934f0979a371p+1;

struct Format {
  int digits;                           // behind the point
  std::int64_t bias;                    // of exponents
  double one_and_half_beyond_integers;  // 1.5 * 2^digits: sums with it are integers
  double least_normal;
  double largest;
  // Bounds behind which functions do not change any more, and where they overflow.
  double exp_overflows, exp_vanishes;
  double exp2_overflows, exp2_vanishes;
  double exp10_overflows, exp10_vanishes;
  double sinh_overflows;
  double tanh_is_one;
  double linear;  // |f(x) - x| is less than a digit of x below, for odd functions and the like
};

inline constexpr Format float32_format{23,  127,  0x1.8p+23, 0x1p-126, std::numeric_limits<float>::max(),
                                       89,  -104, 129,       -151,     39,
                                       -46, 89.5, 10,        0x1p-25};
inline constexpr Format float64_format{52,   1023,  0x1.8p+52, 0x1p-1022, std::numeric_limits<double>::max(),
                                       710,  -746,  1025,      -1076,     309,
                                       -325, 710.6, 20,        0x1p-54};

inline const Format& format_of(Number x) { return x.single() ? float32_format : float64_format; }
inline const Format& format_of(Bits x) { return x.single() ? float32_format : float64_format; }

}  // namespace relish::jit

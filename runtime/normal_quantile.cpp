// Wichura's rational approximations of the normal quantile.
#include "runtime/normal_quantile.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace relish {
namespace {

using namespace normal_tables;

double polynomial(const double (&coefficients)[8], double x) {
  double sum = coefficients[7];
  for (int i = 6; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

double ratio(const double (&numerator)[8], const double (&denominator)[8], double x) {
  return polynomial(numerator, x) / polynomial(denominator, x);
}

}  // namespace

// log of a normal positive number: exponent from the bits, mantissa by the series of 2 atanh((m - 1) / (m +
// 1)).
double fixed_log(double x) {
  constexpr std::uint64_t mantissa_mask = (std::uint64_t{1} << 52) - 1;
  auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & mantissa_mask) | std::uint64_t{1023} << 52);
  if (mantissa > sqrt_of_two) {  // to [1/sqrt(2), sqrt(2)], where the series is short
    mantissa = mantissa / 2;
    ++exponent;
  }
  double s = (mantissa - 1) / (mantissa + 1);
  double square = s * s;
  double sum = 0;
  for (int power = last_power; power >= 1; power -= 2) sum = sum * square + 1.0 / power;
  return exponent * log_of_two + 2 * s * sum;
}

double normal_quantile(double p) {
  double q = p - 0.5;
  if (std::fabs(q) <= central_width)
    return q * ratio(central_numerator, central_denominator, central_square - q * q);
  double r = std::sqrt(-fixed_log(q < 0 ? p : 1 - p));
  double magnitude = r <= tail_begin ? ratio(middle_numerator, middle_denominator, r - middle_offset)
                                     : ratio(tail_numerator, tail_denominator, r - tail_begin);
  return q < 0 ? -magnitude : magnitude;
}

}  // namespace relish

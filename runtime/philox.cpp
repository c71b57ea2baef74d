// Philox4x32-10 and what is derived from it. Everything here is integer arithmetic or + - * / sqrt in double,
// without contraction, so that all tiers and machines give the same bits.
#include "runtime/philox.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace relish {
namespace {

constexpr int philox_rounds = 10;
constexpr std::uint32_t multipliers[2] = {0xD2511F53, 0xCD9E8D57};
constexpr std::uint32_t key_increments[2] = {0x9E3779B9, 0xBB67AE85};

// Streams keep derived values apart from the key's own words: "fold" and "perm" in ASCII.
constexpr std::uint32_t fold_stream = 0x666F6C64;
constexpr std::uint32_t permutation_stream = 0x7065726D;

constexpr int feistel_rounds = 8;
constexpr int least_half_bits = 2;

// Rational approximations of Wichura, "Algorithm AS 241: The percentage points of the normal distribution"
// (1988), PPND16: about 16 digits. Coefficients from the constant term up.
constexpr double central_numerator[8] = {
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
    4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr double central_denominator[8] = {1.0,
                                           4.2313330701600911252e1,
                                           6.8718700749205790830e2,
                                           5.3941960214247511077e3,
                                           2.1213794301586595867e4,
                                           3.9307895800092710610e4,
                                           2.8729085735721942674e4,
                                           5.2264952788528545610e3};
constexpr double middle_numerator[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                        5.76949722146069140550e0,  3.64784832476320460504e0,
                                        1.27045825245236838258e0,  2.41780725177450611770e-1,
                                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double middle_denominator[8] = {1.0,
                                          2.05319162663775882187e0,
                                          1.67638483018380384940e0,
                                          6.89767334985100004550e-1,
                                          1.48103976427480074590e-1,
                                          1.51986665636164571966e-2,
                                          5.47593808499534494600e-4,
                                          1.05075007164441684324e-9};
constexpr double tail_numerator[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                      1.78482653991729133580e0,  2.96560571828504891230e-1,
                                      2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                      2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double tail_denominator[8] = {1.0,
                                        5.99832206555887937690e-1,
                                        1.36929880922735805310e-1,
                                        1.48753612908506148525e-2,
                                        7.86869131145613259100e-4,
                                        1.84631831751005468180e-5,
                                        1.42151175831644588870e-7,
                                        2.04426310338993978564e-15};

double polynomial(const double (&coefficients)[8], double x) {
  double sum = coefficients[7];
  for (int i = 6; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

double ratio(const double (&numerator)[8], const double (&denominator)[8], double x) {
  return polynomial(numerator, x) / polynomial(denominator, x);
}

// log of a normal positive number: exponent from the bits, mantissa by the series of 2 atanh((m - 1) / (m +
// 1)).
double fixed_log(double x) {
  constexpr double log_of_two = 0.693147180559945309417232;
  constexpr std::uint64_t mantissa_mask = (std::uint64_t{1} << 52) - 1;
  auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & mantissa_mask) | std::uint64_t{1023} << 52);
  if (mantissa > 1.41421356237309504880) {  // to [1/sqrt(2), sqrt(2)], where the series is short
    mantissa = mantissa / 2;
    ++exponent;
  }
  double s = (mantissa - 1) / (mantissa + 1);
  double square = s * s;
  double sum = 0;
  for (int power = 23; power >= 1; power -= 2) sum = sum * square + 1.0 / power;
  return exponent * log_of_two + 2 * s * sum;
}

double inverse_normal_cdf(double p) {
  double q = p - 0.5;
  if (std::fabs(q) <= 0.425) return q * ratio(central_numerator, central_denominator, 0.180625 - q * q);
  double r = std::sqrt(-fixed_log(q < 0 ? p : 1 - p));
  double magnitude = r <= 5 ? ratio(middle_numerator, middle_denominator, r - 1.6)
                            : ratio(tail_numerator, tail_denominator, r - 5);
  return q < 0 ? -magnitude : magnitude;
}

}  // namespace

std::array<std::uint32_t, 4> philox(RandomKey key, std::uint64_t index, std::uint32_t stream) {
  std::array<std::uint32_t, 4> c = {static_cast<std::uint32_t>(index),
                                    static_cast<std::uint32_t>(index >> 32), stream, 0};
  std::uint32_t k0 = key.words[0];
  std::uint32_t k1 = key.words[1];
  for (int round = 0; round < philox_rounds; ++round) {
    std::uint64_t product0 = std::uint64_t{multipliers[0]} * c[0];
    std::uint64_t product1 = std::uint64_t{multipliers[1]} * c[2];
    c = {static_cast<std::uint32_t>(product1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(product0)};
    k0 += key_increments[0];
    k1 += key_increments[1];
  }
  return c;
}

std::uint32_t random_word(RandomKey key, std::uint64_t index) { return philox(key, index / 4)[index % 4]; }

RandomKey key_from_seed(std::uint64_t seed) {
  return {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
}

RandomKey fold_in(RandomKey key, std::uint64_t data) {
  std::array<std::uint32_t, 4> words = philox(key, data, fold_stream);
  return {{words[0], words[1]}};
}

std::uint64_t permuted_index(RandomKey key, std::uint64_t n, std::uint64_t i) {
  if (n <= 1) return 0;
  int bits = std::bit_width(n - 1);
  int half_bits = std::max((bits + 1) / 2, least_half_bits);
  std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  // The network permutes [0, 2^(2 half_bits)); following it from a value below n until it is below n again
  // permutes [0, n).
  do {
    std::uint64_t left = i >> half_bits;
    std::uint64_t right = i & mask;
    for (int round = 0; round < feistel_rounds; ++round) {
      std::uint64_t mixed =
          philox(key, right, permutation_stream + static_cast<std::uint32_t>(round))[0] & mask;
      std::uint64_t next = left ^ mixed;
      left = right;
      right = next;
    }
    i = left << half_bits | right;
  } while (i >= n);
  return i;
}

float uniform_float(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

double standard_normal(std::uint32_t word_high, std::uint32_t word_low) {
  // 52 bits and a half: the middle of one of 2^52 equal intervals of (0, 1), exact in double.
  std::uint64_t word = static_cast<std::uint64_t>(word_high) << 32 | word_low;
  return inverse_normal_cdf((static_cast<double>(word >> 12) + 0.5) * 0x1p-52);
}

}  // namespace relish

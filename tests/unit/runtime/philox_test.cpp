// Random bits against published vectors, permutations, and normals against the quantiles of Python's
// statistics module.
#include "runtime/philox.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace relish {
namespace {

// The vectors that the authors publish with their library: counter and key of zeros, of ones, of digits of
// pi.
TEST_CASE("known answers") {
  using Words = std::array<std::uint32_t, 4>;
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(philox_block({{0, 0}}, {0, 0, 0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox_block({{ones, ones}}, {ones, ones, ones, ones}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox_block({{0xa4093822, 0x299f31d0}}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("words are those of the counter's blocks") {
  CHECK(philox({{0, 0}}, 0) == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(random_word({{0, 0}}, 2) == 0xbc57ac4c);
  CHECK(random_word({{0, 0}}, 5) == philox({{0, 0}}, 1)[1]);
}

TEST_CASE("keys differ by seed, data and stream") {
  CHECK(key_from_seed(0x100000002).words[0] == 2);
  CHECK(key_from_seed(0x100000002).words[1] == 1);
  RandomKey key = key_from_seed(7);
  RandomKey a = fold_in(key, 1);
  RandomKey b = fold_in(key, 2);
  CHECK((a.words[0] != b.words[0] || a.words[1] != b.words[1]));
  CHECK(philox(key, 1) != philox(key, 1, 5));
}

TEST_CASE("a permutation hits every index once and depends on the key") {
  for (std::uint64_t n : {1, 2, 3, 5, 16, 17, 100, 4097}) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < n; ++i) {
      std::uint64_t image = permuted_index(key_from_seed(3), n, i);
      CHECK(image < n);
      seen.insert(image);
    }
    CHECK(seen.size() == n);
  }
  int fixed = 0;
  int equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    std::uint64_t image = permuted_index(key_from_seed(3), 1000, i);
    fixed += image == i;
    equal += image == permuted_index(key_from_seed(4), 1000, i);
  }
  CHECK(fixed < 8);
  CHECK(equal < 8);
}

// A chi-squared statistic of `freedom` degrees as a deviation of the normal distribution.
double deviation(double statistic, double freedom) { return (statistic - freedom) / std::sqrt(2 * freedom); }

TEST_CASE("all orders of a few elements are equally frequent") {
  for (std::uint64_t n : {2, 3, 4, 5}) {
    std::map<std::vector<std::uint64_t>, int> counts;
    double orders = 1;
    for (std::uint64_t i = 2; i <= n; ++i) orders *= static_cast<double>(i);
    constexpr int draws = 12000;
    for (std::uint64_t seed = 0; seed < draws; ++seed) {
      std::vector<std::uint64_t> order;
      for (std::uint64_t i = 0; i < n; ++i) order.push_back(permuted_index(key_from_seed(seed), n, i));
      ++counts[order];
    }
    const double expected = draws / orders;
    double statistic = (orders - static_cast<double>(counts.size())) * expected;
    for (const auto& [order, count] : counts) statistic += (count - expected) * (count - expected) / expected;
    INFO(n << " elements");
    CHECK(counts.size() == static_cast<std::size_t>(orders));
    CHECK(deviation(statistic, orders - 1) < 4);
  }
}

TEST_CASE("half of all permutations are odd, and every element reaches every place") {
  for (std::uint64_t n : {2, 15, 16, 17, 64, 256}) {
    constexpr int draws = 4000;
    int odd = 0;
    std::vector<int> first(n, 0);
    for (std::uint64_t seed = 0; seed < draws; ++seed) {
      std::vector<std::uint64_t> image;
      for (std::uint64_t i = 0; i < n; ++i) image.push_back(permuted_index(key_from_seed(seed), n, i));
      ++first[image[0]];
      std::uint64_t cycles = 0;
      std::vector<bool> seen(n, false);
      for (std::uint64_t i = 0; i < n; ++i) {
        if (seen[i]) continue;
        ++cycles;
        for (std::uint64_t j = i; !seen[j]; j = image[j]) seen[j] = true;
      }
      odd += static_cast<int>((n - cycles) % 2);
    }
    INFO(n << " elements");
    CHECK(std::abs(odd - draws / 2) < 4 * std::sqrt(draws) / 2);
    const double expected = draws / static_cast<double>(n);
    double statistic = 0;
    for (int count : first) statistic += (count - expected) * (count - expected) / expected;
    CHECK(deviation(statistic, static_cast<double>(n - 1)) < 4);
  }
}

TEST_CASE("rows of a key are permuted independently") {
  int equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i)
    equal += permuted_index(key_from_seed(3), 1000, i, 0) == permuted_index(key_from_seed(3), 1000, i, 1);
  CHECK(equal < 8);
}

TEST_CASE("uniform floats lie in [0, 1)") {
  CHECK(uniform_float(0) == 0.0f);
  CHECK(uniform_float(0xFFFFFFFF) == 1.0f - 0x1p-24f);
  CHECK(uniform_float(0x80000000) == 0.5f);
}

TEST_CASE("normals are the quantiles of their word") {
  struct Sample {
    std::uint64_t word;
    double expected;
  };
  for (Sample sample : {
           Sample{0x0000000000000000, -8.209536151601386},
           Sample{0x0000010000000000, -5.294704084514203},
           Sample{0x1000000000000000, -1.5341205443525452},
           Sample{0x4000000000000000, -0.6744897501960814},
           Sample{0x123456789abcdef0, -1.4675657313132975},
           Sample{0x7000000000000000, -0.1573106846101704},
           Sample{0xc000000000000000, 0.6744897501960821},
           Sample{0xffffffffffffffff, 8.209536151601386},
       }) {
    double got = standard_normal(static_cast<std::uint32_t>(sample.word >> 32),
                                 static_cast<std::uint32_t>(sample.word));
    CHECK(got == Approx(sample.expected).epsilon(1e-14).margin(0));
  }
}

TEST_CASE("normals are symmetric and have mean 0 and variance 1") {
  RandomKey key = key_from_seed(11);
  double sum = 0;
  double squares = 0;
  constexpr int count = 100000;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint32_t high = random_word(key, 2 * i);
    std::uint32_t low = random_word(key, 2 * i + 1);
    double value = standard_normal(high, low);
    if (standard_normal(~high, ~low) != -value) FAIL("not symmetric at " << i);
    sum += value;
    squares += value * value;
  }
  CHECK(std::abs(sum / count) < 0.012);
  CHECK(std::abs(squares / count - 1) < 0.018);
}

// Kolmogorov and Smirnov: the largest distance of a sample's distribution from `cdf`, times sqrt(count);
// above 1.95 in one of a thousand samples.
template <class Cdf>
double distance(std::vector<double> sample, Cdf&& cdf) {
  std::sort(sample.begin(), sample.end());
  const double count = static_cast<double>(sample.size());
  double largest = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double value = cdf(sample[i]);
    largest = std::max({largest, std::abs(value - static_cast<double>(i) / count),
                        std::abs(value - static_cast<double>(i + 1) / count)});
  }
  return largest * std::sqrt(count);
}

TEST_CASE("uniforms and normals have their distributions") {
  for (std::uint64_t seed : {0, 1, 12345}) {
    const RandomKey key = key_from_seed(seed);
    std::vector<double> narrow, wide, normal;
    for (std::uint64_t i = 0; i < 50000; ++i) {
      narrow.push_back(uniform_float(random_word(key, i)));
      wide.push_back(uniform_double(random_double_word(key, i)));
      normal.push_back(standard_normal(random_double_word(key, i)));
    }
    const auto identity = [](double x) { return x; };
    CHECK(distance(narrow, identity) < 1.95);
    CHECK(distance(wide, identity) < 1.95);
    CHECK(distance(normal, [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }) < 1.95);
    CHECK(distance(normal, identity) > 100);
  }
}

TEST_CASE("neighbouring words and keys are not correlated") {
  constexpr int count = 50000;
  const auto correlation = [](auto&& first, auto&& second) {
    double sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) sum += (first(i) - 0.5) * (second(i) - 0.5);
    return sum * 12 / std::sqrt(static_cast<double>(count));
  };
  const RandomKey key = key_from_seed(5), other = fold_in(key, 1), split = split_key(key, 1);
  const auto of = [](RandomKey k) {
    return [k](std::uint64_t i) { return static_cast<double>(uniform_float(random_word(k, i))); };
  };
  const auto next = [&](std::uint64_t i) { return of(key)(i + 1); };
  CHECK(std::abs(correlation(of(key), next)) < 4);
  CHECK(std::abs(correlation(of(key), of(other))) < 4);
  CHECK(std::abs(correlation(of(key), of(split))) < 4);
  CHECK(std::abs(correlation(of(key), of(key_from_seed(6)))) < 4);
  CHECK(correlation(of(key), of(key)) > 100);
}

}  // namespace
}  // namespace relish

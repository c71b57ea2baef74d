// Random bits against published vectors, permutations, and normals against the quantiles of Python's
// statistics module.
#include "runtime/philox.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <vector>

namespace relish {
namespace {

TEST_CASE("the known answer of the all-zero block") {
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

TEST_CASE("all orders of three occur about equally often") {
  std::vector<int> counts(27, 0);
  constexpr int draws = 6000;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    RandomKey key = key_from_seed(seed);
    std::uint64_t code = 0;
    for (std::uint64_t i = 0; i < 3; ++i) code = 3 * code + permuted_index(key, 3, i);
    ++counts[code];
  }
  int occurring = 0;
  for (int count : counts) {
    if (count == 0) continue;
    ++occurring;
    CHECK(std::abs(count - draws / 6) < 150);
  }
  CHECK(occurring == 6);
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

}  // namespace
}  // namespace relish

// Philox4x32-10 and what is derived from it: integer arithmetic, and conversions that are exact.
#include "runtime/philox.h"

#include <algorithm>
#include <bit>

#include "runtime/normal_quantile.h"

namespace relish {
namespace {

using namespace philox_layout;

RandomKey first_words(const std::array<std::uint32_t, 4>& words) { return {{words[0], words[1]}}; }

}  // namespace

std::array<std::uint32_t, 4> philox_block(RandomKey key, std::array<std::uint32_t, 4> counter) {
  std::array<std::uint32_t, 4> c = counter;
  std::uint32_t k0 = key.words[0];
  std::uint32_t k1 = key.words[1];
  for (int round = 0; round < rounds; ++round) {
    std::uint64_t product0 = std::uint64_t{multipliers[0]} * c[0];
    std::uint64_t product1 = std::uint64_t{multipliers[1]} * c[2];
    c = {static_cast<std::uint32_t>(product1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(product0)};
    k0 += key_increments[0];
    k1 += key_increments[1];
  }
  return c;
}

std::array<std::uint32_t, 4> philox(RandomKey key, std::uint64_t index, std::uint32_t stream,
                                    std::uint32_t row) {
  return philox_block(
      key, {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), stream, row});
}

std::uint32_t random_word(RandomKey key, std::uint64_t index) { return philox(key, index / 4)[index % 4]; }

std::uint64_t random_double_word(RandomKey key, std::uint64_t index) {
  const std::array<std::uint32_t, 4> words = philox(key, index / 2);
  const std::size_t high = 2 * (index % 2);
  return static_cast<std::uint64_t>(words[high]) << 32 | words[high + 1];
}

RandomKey key_from_seed(std::uint64_t seed) {
  return {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
}

RandomKey fold_in(RandomKey key, std::uint64_t data) { return first_words(philox(key, data, fold_stream)); }

RandomKey split_key(RandomKey key, std::uint64_t index) {
  return first_words(philox(key, index, split_stream));
}

std::uint64_t permuted_index(RandomKey key, std::uint64_t n, std::uint64_t i, std::uint32_t row) {
  if (n <= 1) return 0;
  // A Feistel network makes even permutations only; the exchange of 0 and 1 by a bit of the key makes half of
  // all permutations odd.
  const std::uint64_t parity = philox(key, 0, permutation_stream + feistel_rounds, row)[0] & 1;
  if (i <= 1) i ^= parity;
  const int half_bits = std::max<int>((std::bit_width(n - 1) + 1) / 2, least_half_bits);
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  // The network permutes [0, 2^(2 half_bits)); following it from a value below n until it is below n again
  // permutes [0, n).
  do {
    std::uint64_t left = i >> half_bits;
    std::uint64_t right = i & mask;
    for (std::uint32_t round = 0; round < feistel_rounds; ++round) {
      const std::uint64_t mixed = philox(key, right, permutation_stream + round, row)[0] & mask;
      const std::uint64_t next = left ^ mixed;
      left = right;
      right = next;
    }
    i = left << half_bits | right;
  } while (i >= n);
  return i;
}

float uniform_float(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

double uniform_double(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

double standard_normal(std::uint32_t word_high, std::uint32_t word_low) {
  return standard_normal(static_cast<std::uint64_t>(word_high) << 32 | word_low);
}

double standard_normal(std::uint64_t word) {
  // The middle of one of 2^52 equal intervals of (0, 1), exact in double.
  return normal_quantile((static_cast<double>(word >> 12) + 0.5) * 0x1p-52);
}

}  // namespace relish

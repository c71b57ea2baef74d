// Random bits: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). The value
// at an index depends on (key, index) only, so any part of a stream can be made anywhere, by any number of
// threads.
#pragma once

#include <array>
#include <cstdint>

namespace relish {

struct RandomKey {
  std::uint32_t words[2] = {0, 0};
};

// Four words for the 128-bit counter {lo, hi of index, stream, 0}.
std::array<std::uint32_t, 4> philox(RandomKey key, std::uint64_t index, std::uint32_t stream = 0);
// Word `index` of the key's stream: philox(key, index / 4)[index % 4].
std::uint32_t random_word(RandomKey key, std::uint64_t index);
RandomKey key_from_seed(std::uint64_t seed);  // words = low, high
// A new key that depends on (key, data) only.
RandomKey fold_in(RandomKey key, std::uint64_t data);

// A bijection of [0, n) chosen by the key, any position in O(1): a balanced Feistel network over Philox on
// the next even power of two, with cycle walking. `i` < `n`.
std::uint64_t permuted_index(RandomKey key, std::uint64_t n, std::uint64_t i);

// [0, 1) with 24 bits, and a standard normal by a fixed polynomial inverse CDF in + - * / sqrt.
float uniform_float(std::uint32_t word);
double standard_normal(std::uint32_t word_high, std::uint32_t word_low);

}  // namespace relish

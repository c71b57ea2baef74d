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

// The constants of the generator and of the layout of the words below, for code that makes the same bits by
// other means (the lowering of R.random).
namespace philox_layout {

inline constexpr int rounds = 10;
inline constexpr std::uint32_t multipliers[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr std::uint32_t key_increments[2] = {0x9E3779B9, 0xBB67AE85};

// Streams keep derived values apart from the key's own words, which are stream 0: "fold", "spli" and "perm"
// in ASCII. A permutation uses a stream for each round, and one more.
inline constexpr std::uint32_t fold_stream = 0x666F6C64;
inline constexpr std::uint32_t split_stream = 0x73706C69;
inline constexpr std::uint32_t permutation_stream = 0x7065726D;

inline constexpr std::uint32_t feistel_rounds = 8;
// Half the bits of the smallest network. With 4 or 16 values a side the round functions are so small that
// some orders of a few elements occur more often than others.
inline constexpr int least_half_bits = 4;

}  // namespace philox_layout

// The generator itself: four words for a counter of 128 bits.
std::array<std::uint32_t, 4> philox_block(RandomKey key, std::array<std::uint32_t, 4> counter);
// The block of the counter {low and high word of index, stream, row}.
std::array<std::uint32_t, 4> philox(RandomKey key, std::uint64_t index, std::uint32_t stream = 0,
                                    std::uint32_t row = 0);
// Word `index` of the key's stream: philox(key, index / 4)[index % 4].
std::uint32_t random_word(RandomKey key, std::uint64_t index);
// Words 2 * index (high) and 2 * index + 1 (low).
std::uint64_t random_double_word(RandomKey key, std::uint64_t index);
RandomKey key_from_seed(std::uint64_t seed);  // words = low, high
// A new key that depends on (key, data) only.
RandomKey fold_in(RandomKey key, std::uint64_t data);
// Key `index` of those that the key is split into.
RandomKey split_key(RandomKey key, std::uint64_t index);

// A bijection of [0, n) chosen by the key and the row, any position in O(1): a balanced Feistel network over
// Philox on an even power of two, with cycle walking. `i` < `n`.
std::uint64_t permuted_index(RandomKey key, std::uint64_t n, std::uint64_t i, std::uint32_t row = 0);

// [0, 1) with 24 bits, with 53 bits, and a standard normal (runtime/normal_quantile.h) from 52 bits.
float uniform_float(std::uint32_t word);
double uniform_double(std::uint64_t word);
double standard_normal(std::uint32_t word_high, std::uint32_t word_low);
double standard_normal(std::uint64_t word);

}  // namespace relish

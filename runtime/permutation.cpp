// The Feistel network of permuted_index over tables.
#include "runtime/permutation.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace relish {

using namespace philox_layout;

Permutation::Permutation(RandomKey key, std::uint64_t n) : key_(key), n_(n), half_bits_(0), parity_(0) {
  constexpr int most_half_bits = 16;
  if (n <= 1) return;
  half_bits_ = std::max<int>((std::bit_width(n - 1) + 1) / 2, least_half_bits);
  if (half_bits_ > most_half_bits) return;
  parity_ = philox(key, 0, permutation_stream + feistel_rounds)[0] & 1;
  const std::uint64_t values = std::uint64_t{1} << half_bits_;
  rounds_.reserve(values * feistel_rounds);
  for (std::uint32_t round = 0; round < feistel_rounds; ++round)
    for (std::uint64_t half = 0; half < values; ++half)
      rounds_.push_back(
          static_cast<std::uint32_t>(philox(key, half, permutation_stream + round)[0] & (values - 1)));
}

// Once through the network.
std::uint64_t Permutation::through_rounds(std::uint64_t i) const {
  static_assert(feistel_rounds % 2 == 0);
  const std::uint64_t values = std::uint64_t{1} << half_bits_;
  std::uint64_t left = i >> half_bits_;
  std::uint64_t right = i & (values - 1);
  const std::uint32_t* table = rounds_.data();
  // The halves change places in each round, so in two of them none does.
  for (std::uint32_t round = 0; round < feistel_rounds; round += 2, table += 2 * values) {
    left ^= table[right];
    right ^= table[values + left];
  }
  return left << half_bits_ | right;
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  if (rounds_.empty()) return permuted_index(key_, n_, i);
  if (i <= 1) i ^= parity_;
  do {
    i = through_rounds(i);
  } while (i >= n_);
  return i;
}

// The whole group goes through the network, then once more what came out at n or beyond: no branch waits for
// a position, so the processor works on many of them at a time.
void Permutation::take(std::uint64_t first, std::span<std::int64_t> into) const {
  constexpr std::size_t together = 256;
  if (rounds_.empty()) {
    for (std::size_t j = 0; j < into.size(); ++j) into[j] = static_cast<std::int64_t>((*this)(first + j));
    return;
  }
  for (std::size_t begin = 0; begin < into.size(); begin += together) {
    const std::span<std::int64_t> group = into.subspan(begin, std::min(together, into.size() - begin));
    std::size_t beyond[together], count = 0;
    for (std::size_t j = 0; j < group.size(); ++j) {
      const std::uint64_t at = first + begin + j;
      const std::uint64_t i = through_rounds(at <= 1 ? at ^ parity_ : at);
      group[j] = static_cast<std::int64_t>(i);
      beyond[count] = j;
      count += i >= n_ ? 1 : 0;
    }
    while (count > 0) {
      const std::size_t left = std::exchange(count, 0);
      for (std::size_t k = 0; k < left; ++k) {
        const std::size_t j = beyond[k];
        const std::uint64_t i = through_rounds(static_cast<std::uint64_t>(group[j]));
        group[j] = static_cast<std::int64_t>(i);
        beyond[count] = j;
        count += i >= n_ ? 1 : 0;
      }
    }
  }
}

}  // namespace relish

// The Feistel network of permuted_index over tables.
#include "runtime/permutation.h"

#include <algorithm>
#include <bit>

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

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  if (rounds_.empty()) return permuted_index(key_, n_, i);
  if (i <= 1) i ^= parity_;
  const std::uint64_t values = std::uint64_t{1} << half_bits_;
  do {
    std::uint64_t left = i >> half_bits_;
    std::uint64_t right = i & (values - 1);
    const std::uint32_t* table = rounds_.data();
    for (std::uint32_t round = 0; round < feistel_rounds; ++round, table += values) {
      const std::uint64_t next = left ^ table[right];
      left = right;
      right = next;
    }
    i = left << half_bits_ | right;
  } while (i >= n_);
  return i;
}

}  // namespace relish

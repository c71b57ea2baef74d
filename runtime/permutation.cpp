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

// Once through the network.
std::uint64_t Permutation::through_rounds(std::uint64_t i) const {
  const std::uint64_t values = std::uint64_t{1} << half_bits_;
  std::uint64_t left = i >> half_bits_;
  std::uint64_t right = i & (values - 1);
  const std::uint32_t* table = rounds_.data();
  for (std::uint32_t round = 0; round < feistel_rounds; ++round, table += values) {
    const std::uint64_t next = left ^ table[right];
    left = right;
    right = next;
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

// A round of all positions of a group before the next: the rounds of one wait for each other.
void Permutation::take(std::uint64_t first, std::span<std::int64_t> into) const {
  constexpr std::size_t together = 32;
  const std::uint64_t values = std::uint64_t{1} << half_bits_;
  for (std::size_t begin = 0; begin < into.size(); begin += together) {
    const std::size_t count = std::min(together, into.size() - begin);
    const std::uint64_t at = first + begin;
    if (rounds_.empty() || at <= 1) {
      for (std::size_t j = 0; j < count; ++j) into[begin + j] = static_cast<std::int64_t>((*this)(at + j));
      continue;
    }
    std::uint64_t left[together], right[together];
    for (std::size_t j = 0; j < count; ++j) {
      left[j] = (at + j) >> half_bits_;
      right[j] = (at + j) & (values - 1);
    }
    const std::uint32_t* table = rounds_.data();
    for (std::uint32_t round = 0; round < feistel_rounds; ++round, table += values) {
      for (std::size_t j = 0; j < count; ++j) {
        const std::uint64_t next = left[j] ^ table[right[j]];
        left[j] = right[j];
        right[j] = next;
      }
    }
    for (std::size_t j = 0; j < count; ++j) {
      std::uint64_t i = left[j] << half_bits_ | right[j];
      while (i >= n_) i = through_rounds(i);
      into[begin + j] = static_cast<std::int64_t>(i);
    }
  }
}

}  // namespace relish

// A permutation of which many positions are wanted: permuted_index (runtime/philox.h) with the values of its
// round functions written down.
#pragma once

#include <span>
#include <vector>

#include "runtime/philox.h"

namespace relish {

class Permutation {
 public:
  // Of [0, n). Takes time and memory of about 16 sqrt(n); beyond 2^32 elements nothing is written down.
  Permutation(RandomKey key, std::uint64_t n);

  // permuted_index(key, n, i).
  std::uint64_t operator()(std::uint64_t i) const;
  // The same of the positions from `first` on, for which less is waited than for each by itself.
  void take(std::uint64_t first, std::span<std::int64_t> into) const;

 private:
  std::uint64_t through_rounds(std::uint64_t i) const;

  RandomKey key_;
  std::uint64_t n_;
  int half_bits_;
  std::uint64_t parity_;
  std::vector<std::uint32_t> rounds_;  // of each round the values for each half; empty: not written down
};

}  // namespace relish

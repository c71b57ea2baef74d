// A permutation of which many positions are wanted: permuted_index (runtime/philox.h) with the values of its
// round functions written down.
#pragma once

#include <vector>

#include "runtime/philox.h"

namespace relish {

class Permutation {
 public:
  // Of [0, n). Takes time and memory of about 16 sqrt(n); beyond 2^32 elements nothing is written down.
  Permutation(RandomKey key, std::uint64_t n);

  // permuted_index(key, n, i).
  std::uint64_t operator()(std::uint64_t i) const;

 private:
  RandomKey key_;
  std::uint64_t n_;
  int half_bits_;
  std::uint64_t parity_;
  std::vector<std::uint32_t> rounds_;  // of each round the values for each half; empty: not written down
};

}  // namespace relish

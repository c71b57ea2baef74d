// The generator's random numbers: the same sequence on every machine for a seed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/failure.h"

namespace relish::generate {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull) {}

  // SplitMix64.
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // In [0, n); n > 0.
  std::int64_t below(std::int64_t n) {
    RELISH_CHECK(n > 0);
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }
  // In [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  // In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }

  template <class T>
  const T& pick(std::span<const T> items) {
    RELISH_CHECK(!items.empty());
    return items[static_cast<std::size_t>(below(static_cast<std::int64_t>(items.size())))];
  }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return pick(std::span<const T>(items));
  }
  template <class T, std::size_t N>
  const T& pick(const T (&items)[N]) {
    return pick(std::span<const T>(items));
  }

 private:
  std::uint64_t state_;
};

}  // namespace relish::generate

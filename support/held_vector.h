// A vector of a size that a text or data decides: its memory is counted like that of a tensor before it is
// allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/memory.h"

namespace relish {

template <class T>
class HeldVector : private HeldMemory, public std::vector<T> {
 public:
  // `count` values, all `value`. ResourceLimit when they do not fit below --memory-limit; `what`: "the sums
  // of a reduction".
  HeldVector(std::int64_t count, std::string_view what, const T& value = T())
      : HeldMemory(bytes_of(count), what), std::vector<T>(static_cast<std::size_t>(count), value) {}

 private:
  static std::uint64_t bytes_of(std::int64_t count) {
    std::uint64_t bytes = 0;
    const bool overflow = __builtin_mul_overflow(static_cast<std::uint64_t>(count), sizeof(T), &bytes);
    return overflow ? std::numeric_limits<std::uint64_t>::max() : bytes;
  }
};

}  // namespace relish

// Identities of variables and buffers: one counter for all kinds, so that an id names one thing in the whole
// process.
#pragma once

#include <atomic>
#include <cstdint>

namespace relish {

inline std::uint64_t next_identity() {
  static std::atomic<std::uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace relish

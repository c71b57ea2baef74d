// What of a processor decides how loops are cut into tiles.
#pragma once

#include <cstdint>

namespace relish {

// The default is a processor of 32-byte vectors, as most are: what is printed and tested without a machine.
struct Target {
  std::int64_t vector_bytes = 32;
  std::int64_t vector_registers = 16;
  std::int64_t first_cache_bytes = 1 << 15;    // the one next to the registers
  std::int64_t private_cache_bytes = 1 << 19;  // of one core, the largest that it does not share
  std::int64_t line_bytes = 64;                // what a cache reads and writes at once
  std::int64_t least_products = 1 << 13;       // below so many, tiles cost more than they bring
  std::int64_t least_moved = 1 << 12;          // the same of elements that are copied
};

}  // namespace relish

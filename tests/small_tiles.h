// A target on which small loops are cut into many small blocks and tiles: every tail and every round occurs
// in texts of a few elements.
#pragma once

#include "schedule/target.h"

namespace relish::test {

inline constexpr Target small_tiles{.vector_bytes = 8,
                                    .vector_registers = 8,
                                    .private_cache_bytes = 0,
                                    .line_bytes = 16,
                                    .least_products = 0,
                                    .least_moved = 0};

}  // namespace relish::test

// Independent pieces of work on all processors.
#pragma once

#include <cstddef>
#include <functional>

namespace relish {

// Calls `piece` for each number below `count`, in no order, on this thread and on others with stacks as large
// as that of with_big_stack. Returns when all have returned. What a piece throws is thrown behind the others;
// of several that of the lowest number among those that ran. Few pieces run here, one after the other.
void side_by_side(std::size_t count, const std::function<void(std::size_t)>& piece);

}  // namespace relish

// Runs a function on a thread with a large reserved stack, for work whose recursion follows the nesting of
// the input.
#pragma once

#include <functional>

namespace relish {

// Runs `work` to completion on a thread with a 1 GiB reserved (not committed) stack and rethrows what it
// throws. Nested calls run in place.
void with_big_stack(const std::function<void()>& work);

}  // namespace relish

// Runs a function on a thread with a large reserved stack, for work whose recursion follows the nesting of
// the input.
#pragma once

#include <cstddef>
#include <functional>

namespace relish {

// The least stack that the program runs with.
inline constexpr std::size_t least_stack_bytes = std::size_t{64} << 20;

// How large a stack may be reserved: under a limit of addresses (ulimit -v, ulimit -d) the most of them are
// for what is computed, and threads that take all that is left leave others unable to start.
std::size_t stack_within_limits(std::size_t wanted, std::size_t least);

// Runs `work` to completion on a thread with a 1 GiB reserved (not committed) stack and rethrows what it
// throws. Nested calls run in place.
void with_big_stack(const std::function<void()>& work);

}  // namespace relish

// Which buffers of a kernel live on the stack, from where LLVM moves what it can into registers. The others
// are taken from the scratch memory of their thread.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/nodes/stmt.h"

namespace relish::jit {

// Of all locals of a function, and of one with elements.
inline constexpr std::int64_t most_kernel_stack_bytes = 1 << 15, most_local_bytes = 1 << 13;

// The bytes of a local buffer that may live there.
inline std::optional<std::int64_t> local_bytes(const Buffer& buffer) {
  if (buffer.scope() != "local") return std::nullopt;
  std::int64_t bytes = size_of(buffer.dtype());
  for (const Scalar& dim : buffer.shape()) {
    const auto literal = dim.as_int();
    if (!literal || *literal < 1 || *literal > most_local_bytes) return std::nullopt;
    bytes *= *literal;
    if (bytes > most_local_bytes) return std::nullopt;
  }
  return bytes;
}

}  // namespace relish::jit

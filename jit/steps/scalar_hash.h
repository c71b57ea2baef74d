// A hash of dimension expressions, to look up those that are structurally equal.
#pragma once

#include <cstdint>

#include "ir/nodes/scalar.h"

namespace relish::jit {

// Equal for equal structure; what is seldom in dims is not told apart.
inline std::uint64_t hash_of(const Scalar& scalar) {
  const auto mix = [](std::uint64_t a, std::uint64_t b) {
    return (a ^ b) * 0x9e3779b97f4a7c15ULL + (a >> 32);
  };
  if (const auto literal = scalar.as_int()) return mix(1, static_cast<std::uint64_t>(*literal));
  if (const auto var = scalar.as_var()) return mix(2, var->id());
  if (const auto* n = scalar.as<Cast>()) return mix(3, hash_of(n->a));
  const auto* n = scalar.as<Binary>();
  return n ? mix(mix(4 + static_cast<std::uint64_t>(n->op), hash_of(n->a)), hash_of(n->b)) : 0;
}

}  // namespace relish::jit

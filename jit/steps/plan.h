// Memory plan of a graph function: values whose lives do not overlap share a slot of the function's arena.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/nodes/scalar.h"

namespace relish::jit {

// A value in the arena: alive from the binding that makes it to the last binding that reads it, both
// inclusive.
struct Life {
  std::int64_t begin = 0, end = 0;
  Scalar bytes;  // canonical; a literal or an expression of symbolic dims known at entry
};

struct MemoryPlan {
  std::vector<std::size_t> slot_of;             // by life
  std::vector<std::vector<std::size_t>> slots;  // lives in each slot; its size is their largest
};

// Greedy in order of begin (which `lives` must have). Literal sizes go to the tightest free slot, else the
// largest one grows; symbolic sizes prefer a slot of provably equal size. Deterministic.
MemoryPlan plan_memory(std::span<const Life> lives);

}  // namespace relish::jit

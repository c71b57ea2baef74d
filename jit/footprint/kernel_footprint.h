// The buffers that a kernel takes from scratch memory, and how much of it at most at one time.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/nodes/stmt.h"
#include "jit/footprint.h"
#include "loops/operations.h"

namespace relish::jit {

struct KernelFootprint {
  std::int64_t bytes = 0;  // on all threads together
  bool complete = true;    // every size is known
  std::vector<Footprint::Part> buffers = {};
};

KernelFootprint footprint_of_kernel(const PrimFunc& function, int threads, const SizeOf& size_of);

}  // namespace relish::jit

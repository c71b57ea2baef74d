// What compiled code tells of its kernels when it was made to be watched.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/nodes/module.h"
#include "schedule/fusion/notes.h"

namespace relish::jit {

struct WatchedKernel {
  PrimFuncPtr function;
  Span span;  // of what calls it
  std::vector<FusionNote> apart = {};
};

struct KernelRun {
  std::int32_t kernel = 0;                // its place among the kernels of the code
  std::int64_t begin_ns = 0, end_ns = 0;  // no end: it failed
  std::vector<std::int64_t> sizes = {};   // values of its symbols
};

}  // namespace relish::jit

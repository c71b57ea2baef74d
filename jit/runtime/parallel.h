// Parallel loops of compiled code.
#pragma once

#include <cstdint>

#include "jit/runtime/context.h"

namespace relish::jit {

using ChunkFn = std::int32_t (*)(RtContext*, std::int64_t begin, std::int64_t end, void* data);

// Runs fn over [0, n) in chunks of `chunk` iterations. Chunks depend on shapes only; every chunk below a
// failed one still runs, so that the reported fault is the first in program order for any number of threads.
extern "C" std::int32_t rt_parallel_for(RtContext* context, std::int64_t n, std::int64_t chunk, ChunkFn fn,
                                        void* data);

}  // namespace relish::jit

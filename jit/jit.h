// The compiled tier: legalizes, plans and compiles whole functions with LLVM ORC, and calls them.
#pragma once

#include <memory>

#include "ir/evaluator.h"

namespace relish {

struct JitOptions {
  int threads = 0;  // 0: the affinity and quota of this process
};

// Starting is cheap; LLVM is initialised at the first compilation. Compiled code is kept per module and
// function.
std::unique_ptr<Evaluator> make_jit(const JitOptions& options = {});

}  // namespace relish

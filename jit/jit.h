// The compiled tier: legalizes, plans and compiles whole functions with LLVM ORC, and calls them.
#pragma once

#include <memory>
#include <optional>

#include "ir/operators/evaluator.h"
#include "schedule/target.h"

namespace relish {

struct JitOptions {
  int threads = 0;                    // 0: the affinity and quota of this process
  std::optional<Target> target = {};  // what loops are scheduled for, when it is not this machine
};

// Starting is cheap; LLVM is initialised at the first compilation. Compiled code is kept per module and
// function.
std::unique_ptr<Evaluator> make_jit(const JitOptions& options = {});

// What compiled code is scheduled for here.
Target this_machine();

// The same code on another number of threads. `jit` is an evaluator that make_jit made; it must outlive the
// result.
std::unique_ptr<Evaluator> on_threads(Evaluator& jit, int threads);

}  // namespace relish

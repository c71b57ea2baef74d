// The compiled tier: legalizes, plans and compiles whole functions with LLVM ORC, and calls them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/operators/giving.h"
#include "jit/footprint.h"
#include "schedule/fusion/notes.h"
#include "schedule/target.h"

namespace relish {

class ObjectStore;

// What kernels did in calls of an evaluator that watches them.
struct KernelLog {
  struct Kernel {
    PrimFuncPtr function;                // as it was before its loops were scheduled
    Span span;                           // of what calls it
    std::vector<FusionNote> apart = {};  // why it is not part of what reads its results
  };
  struct Run {
    std::size_t kernel = 0;
    std::int64_t begin_ns = 0, end_ns = 0;  // of one clock that only goes on
    // None where it depends on more than sizes.
    std::optional<double> operations = {}, bytes = {};
  };
  std::vector<Kernel> kernels;
  std::vector<Run> runs;
};

struct JitOptions {
  int threads = 0;                    // 0: the affinity and quota of this process
  std::optional<Target> target = {};  // what loops are scheduled for, when it is not this machine
  KernelLog* log = nullptr;  // receives what kernels do; code that is not watched does not look at it
  std::shared_ptr<ObjectStore> objects = nullptr;  // keeps code between processes; null: none does
};

// Starting is cheap; LLVM is initialised at the first compilation. Compiled code is kept per module and
// function. It makes use of what callers give up (ir/operators/giving.h): what nobody else sees is written to
// where the plan says so, and ends where it has its last use.
std::unique_ptr<Evaluator> make_jit(const JitOptions& options = {});

// What this process has done so far: units of code that it has compiled, and those that it found in a store
// of objects; programs of which all was found, so that they were not even lowered; blocks of memory that
// calls took for what is temporary.
struct CodeCounts {
  std::uint64_t compiled = 0, found = 0, programs = 0, blocks = 0;
};
CodeCounts code_counts();

// What a call of the function with such arguments would hold in memory. Nothing is compiled. It fails as the
// call does before it runs. `threads`: as in JitOptions; `given`: as in call_giving.
Footprint footprint_of(const ModulePtr& module, std::string_view name, const std::vector<Value>& args,
                       int threads = 0, const GivenParams& given = {});

// The module as compiled code has it in the end, its memory planned: bodies lifted, loops scheduled, and what
// is written over what ends written as R.call_tir_inplace. Functions whose callers give something up have
// copies for that; `given`: what callers from outside give to which function.
Module planned(const ModulePtr& module, const Target& target,
               const std::map<std::string, GivenParams>& given = {});

// What compiled code is scheduled for here.
Target this_machine();

// This machine, as far as compiled code depends on it.
struct MachineDescription {
  std::string processor;  // by LLVM's name
  bool fused_multiply_add = false;
  Target target;
  int threads = 1;  // of the affinity and quota of this process
};
MachineDescription describe_machine();

// The same code on another number of threads. `jit` is an evaluator that make_jit made; it must outlive the
// result.
std::unique_ptr<Evaluator> on_threads(Evaluator& jit, int threads);

}  // namespace relish

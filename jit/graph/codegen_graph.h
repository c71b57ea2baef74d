// Code generation of Relax functions: `int32 f(Ctx*, const int64* in, int64* out)`. Slots of `in` and `out`
// hold the leaves of arguments and results in order (slot_count): a tensor its address and dims, a shape its
// dims, a scalar its value. What the code does stands in steps (jit/steps/steps.h), which it follows one by
// one.
#pragma once

#include <map>
#include <memory>

#include "jit/engine/code_units.h"
#include "jit/graph/kernel_units.h"
#include "jit/graph/watched_kernels.h"
#include "jit/runtime/host_calls.h"
#include "jit/steps/program_steps.h"

namespace relish::jit {

class GraphEmitter {
 public:
  // The units of the code go to `taker`. `host_calls` receives the calls into the program; null where there
  // are none (a prim_func by itself). `watched` receives the calls of kernels, which then tell of their runs;
  // null: they do not.
  GraphEmitter(ProgramSteps steps, CodeUnits& taker, SiteTable& sites,
               std::vector<HostCall>* host_calls = nullptr, std::vector<WatchedKernel>* watched = nullptr);

  // The function, for callers that give up these leaves of its arguments, and everything that it calls.
  llvm::Function* function(const Function& function, const step::Donated& donated = {});
  // A prim_func behind the same signature: `in` holds its parameters, then its kernel_symbols; `out` receives
  // the scalar that it returns, if any.
  llvm::Function* entry_of(const PrimFunc& function);
  // Hands in what is left, with `entry` for other units to see; its symbol. Nothing is emitted afterwards.
  std::string finish(llvm::Function* entry);

  // For the code of its functions.
  ProgramSteps& steps() { return steps_; }
  llvm::Function* kernel(const PrimFunc& function) { return kernels_.declared(function, *glue_->module); }
  // The number by which compiled code names the call.
  std::int32_t add(HostCall call);
  RuntimeCalls& runtime() { return runtime_; }
  const KernelWatch& watch() const { return watch_; }
  SiteTable& sites() { return sites_; }
  std::string name_in_text(const Function& function) const {
    return written_name(steps_.functions(), function.name);
  }

 private:
  llvm::Function* new_function(const std::string& name);

  ProgramSteps steps_;
  CodeUnits& taker_;
  SiteTable& sites_;
  std::vector<HostCall>* host_calls_;
  std::unique_ptr<CodeUnit> glue_;  // of all graph functions
  RuntimeCalls runtime_;            // of its module
  KernelUnits kernels_;
  KernelWatch watch_;
  std::map<std::pair<const Function*, step::Donated>, llvm::Function*> functions_;
};

}  // namespace relish::jit

// From a function of a module to callable code: legalize what it reaches, generate, link.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/operators/giving.h"
#include "jit/engine/engine.h"
#include "jit/engine/sites.h"
#include "jit/runtime/context.h"
#include "jit/runtime/host_calls.h"
#include "jit/runtime/kernel_runs.h"
#include "jit/steps/program_steps.h"
#include "transform/legalize.h"

namespace relish::jit {

using EntryFn = std::int32_t (*)(RtContext*, const std::int64_t* in, std::int64_t* out);

// What was planned instead of compiled: the steps of a Relax function, or a prim_func as it is scheduled.
struct Plan {
  std::optional<LoweredProgram> program;
  std::unique_ptr<ProgramSteps> steps;
  step::Donated donated;  // to the function
  PrimFuncPtr kernel;
};

// Compiled code of one entry with everything that it calls. It holds no function of the module, only the
// constants whose addresses are in the code.
struct Compiled {
  std::unique_ptr<Code> code;
  EntryFn entry = nullptr;
  SiteTable sites;
  std::vector<Tensor> constants;
  HostCalls host_calls;
  bool recursive = false;                // needs a large stack
  std::vector<bool> written_first;       // by parameter of a prim_func: all of it, before any is read
  bool direct = false;                   // calls prim_funcs directly, which may write to arguments
  std::optional<FunctionLayout> layout;  // of a Relax function
  std::vector<WatchedKernel> watched;    // of code that was made to be watched
  std::shared_ptr<const Plan> plan;      // instead of code
};

// The functions that `name` reaches in the module, itself first. The compiled code depends on nothing else.
std::vector<GlobalFunction> reachable_functions(const Module& module, std::string_view name);

// `functions` as reachable_functions gives them. Failure(TypeError) for what cannot be compiled; operators on
// shapes that only the run shows are evaluated by the program, or refused, as `unknown` says.
// `given`: the parameters whose tensors callers give up. `watched`: kernels tell of their runs.
std::shared_ptr<const Compiled> compile(Engine& engine, const Module& module,
                                        const std::vector<GlobalFunction>& functions, UnknownShapes unknown,
                                        const GivenParams& given = {}, bool watched = false);

// As far as the steps, of which the result tells by `plan`. It fails as compile does.
std::shared_ptr<const Compiled> plan(const Target& target, const Module& module,
                                     const std::vector<GlobalFunction>& functions, UnknownShapes unknown,
                                     const GivenParams& given = {});

}  // namespace relish::jit

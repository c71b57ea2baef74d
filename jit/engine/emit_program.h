// From a function of a module to units of code: legalize what it reaches, fuse, schedule, plan, emit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/operators/giving.h"
#include "jit/engine/code_units.h"
#include "jit/runtime/host_calls.h"
#include "jit/runtime/kernel_runs.h"
#include "jit/steps/program_steps.h"
#include "transform/legalize.h"

namespace relish::jit {

// What is compiled: a function and all that it reaches, as reachable_functions gives them.
struct ProgramSource {
  const Module& module;
  const std::vector<GlobalFunction>& functions;
  UnknownShapes unknown = UnknownShapes::Kept;
  const GivenParams& given;  // the parameters whose tensors callers give up

  const GlobalFunction& entry() const { return functions.front(); }
  Span span() const {
    return std::visit([](const auto& held) { return held->span; }, entry());
  }
  // The functions alone, as a module.
  Module part() const;
  // The same with calls inlined as `lower` shows it, without those that the first one reaches no more.
  Module joined() const;
};

// All that is known of code when its units are handed out.
struct EmittedProgram {
  std::string symbol;  // of the entry
  SiteTable sites;
  std::vector<HostCall> host_calls;
  std::vector<Tensor> constants;
  bool recursive = false;
  std::optional<FunctionLayout> layout;  // of a Relax function
  std::vector<WatchedKernel> watched;    // where that is asked for
};

// The units go to `taker`. Failure(TypeError) for what cannot be compiled.
EmittedProgram emit_program(CodeUnits& taker, const Target& target, const ProgramSource& source,
                            bool watched);

// The tensors of all constants that the functions of a module mention, in their order.
std::vector<Tensor> constants_of(const std::vector<GlobalFunction>& functions);

}  // namespace relish::jit

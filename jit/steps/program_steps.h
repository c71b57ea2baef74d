// The steps of the functions of one compilation, each made when it is first asked for.
#pragma once

#include <memory>
#include <unordered_map>

#include "jit/steps/steps.h"
#include "schedule/target.h"
#include "transform/legalize.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

// A module on its way to steps: bodies lifted, operators legalized, loops scheduled.
struct LoweredProgram {
  LiftedModule lifted;
  LoweredCalls operators;
  Module unscheduled;  // the same functions before their loops were scheduled
};
// Failure(TypeError) for what cannot be compiled; operators on shapes that only the run shows are evaluated
// by the program, or refused, as `unknown` says.
LoweredProgram lowered_program(const Module& module, UnknownShapes unknown, const Target& target = {});

// What steps need to know of a prim_func.
struct KernelFacts {
  std::vector<ParamAccess> accesses;  // by parameter
  std::vector<bool> clear;            // by parameter: it may leave elements of the buffer unwritten
};

class ProgramSteps {
 public:
  // Of a legalized module with lifted bodies, which must stay alive. `operators` says which calls are
  // operators'; null where there are none.
  explicit ProgramSteps(const LiftedModule& lifted, const LoweredCalls* operators = nullptr)
      : lifted_(lifted), operators_(operators) {}

  // Failure(TypeError) for what is not compiled.
  const FunctionSteps& of(const Function& function);
  const KernelFacts& kernel(const PrimFunc& function);

  const Module& module() const { return lifted_.module; }
  const LiftedFunctions& functions() const { return lifted_.functions; }
  // The call of the operator that a call_tir stands for, where its evaluation can tell a fault; else null.
  const OpCall* operator_of(const Expr& call_tir) const;
  const Expr& operator_call(const Expr& call_tir) const { return operators_->at(&call_tir.node()); }

 private:
  const LiftedModule& lifted_;
  const LoweredCalls* operators_;
  std::unordered_map<const Function*, std::unique_ptr<const FunctionSteps>> steps_;
  std::unordered_map<const PrimFunc*, KernelFacts> kernels_;
};

// The symbol of the native function that a packed call names; none when the callee is a value.
std::optional<std::string> packed_symbol(const Module& module, const Expr& callee);

}  // namespace relish::jit

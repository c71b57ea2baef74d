// The steps of the functions of one compilation, each made when it is first asked for.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "jit/steps/steps.h"
#include "loops/write_over.h"
#include "schedule/fusion/fuse.h"
#include "schedule/target.h"
#include "transform/legalize.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

// A module on its way to steps: bodies lifted, operators legalized, loops scheduled.
struct LoweredProgram {
  LiftedModule lifted;
  LoweredCalls operators;
  Module unscheduled;  // the same functions before their loops were scheduled
  Target target;
  FusionNotes apart = {};       // by kernels of `unscheduled`
  CheckingCalls checking = {};  // of its calls, those made of one in `operators` and others
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
  // Of a program, which must stay alive.
  explicit ProgramSteps(const LoweredProgram& program)
      : lifted_(program.lifted), operators_(&program.operators), program_(&program) {}
  // Of a prim_func alone.
  explicit ProgramSteps(const LiftedModule& lifted) : lifted_(lifted) {}

  // Of the function for callers that give these leaves of its arguments up. Failure(TypeError) for what is
  // not compiled.
  const FunctionSteps& of(const Function& function, const step::Donated& donated = {});
  // Those of the leaves that the function writes to, or gives to a function that does; empty: none.
  step::Donated of_use(const Function& callee, const step::Donated& donated);
  // Makes the steps of all that calls of the function give something up to.
  void make_donated(const Function& function, const step::Donated& donated = {});
  // The steps that were made so far for callers that give something up, in order.
  const std::vector<const FunctionSteps*>& with_donations() const { return with_donations_; }

  // The prim_func before its loops were scheduled; null where that is not known.
  PrimFuncPtr unscheduled(const PrimFunc& function) const;
  // The kernel that writes results over arguments (loops/write_over.h), scheduled.
  PrimFuncPtr written_over(const PrimFunc& kernel, const std::vector<WrittenOver>& pairs);
  // Those kernels before their loops were scheduled.
  const Module& kernels_in_place() const { return in_place_; }
  // Why a kernel is not part of what reads its results.
  std::vector<FusionNote> apart(const std::string& kernel) const;
  // What such a kernel joins of the one that it was made of; null of another kernel.
  const std::vector<WrittenOver>* joined_in(const PrimFunc& kernel) const;
  const KernelFacts& kernel(const PrimFunc& function);

  const Module& module() const { return lifted_.module; }
  const LiftedFunctions& functions() const { return lifted_.functions; }
  // The call of the operator that a call_tir stands for, perhaps beside others that never fail, where its
  // evaluation can tell a fault; else undefined.
  Expr operator_of(const Expr& call_tir) const;
  // Whether the call_tir stands for others, too.
  bool is_fused(const Expr& call_tir) const;

 private:
  const LiftedModule& lifted_;
  const LoweredCalls* operators_ = nullptr;
  const LoweredProgram* program_ = nullptr;
  std::map<std::pair<const Function*, step::Donated>, std::unique_ptr<const FunctionSteps>> steps_;
  std::vector<const FunctionSteps*> with_donations_;
  std::map<std::string, PrimFuncPtr> scheduled_in_place_;  // by kernel and pairs
  std::unordered_map<const PrimFunc*, std::vector<WrittenOver>> joined_;
  Module in_place_;
  std::map<std::string, std::string> made_of_;  // kernels in place: those that they were made of
  std::unordered_map<const PrimFunc*, KernelFacts> kernels_;
};

// The symbol of the native function that a packed call names; none when the callee is a value.
std::optional<std::string> packed_symbol(const Module& module, const Expr& callee);

}  // namespace relish::jit

// From a module to the steps of its functions.
#include "jit/steps/program_steps.h"

#include "ir/operators/op.h"
#include "jit/steps/compilable.h"
#include "jit/steps/step_maker.h"
#include "loops/written_first.h"
#include "schedule/fuse.h"
#include "schedule/schedule.h"
#include "support/failure.h"

namespace relish::jit {

LoweredProgram lowered_program(const Module& module, UnknownShapes unknown, const Target& target) {
  require_compilable(module.functions);
  LoweredProgram program{lift_bodies(module), {}, {}};
  program.unscheduled = fuse(legalize(program.lifted.module, unknown, &program.operators));
  program.lifted.module = schedule(program.unscheduled, target);
  return program;
}

const FunctionSteps& ProgramSteps::of(const Function& function) {
  const auto known = steps_.find(&function);
  if (known != steps_.end()) {
    RELISH_CHECK(known->second != nullptr, function.name);  // it is not among its own callees
    return *known->second;
  }
  steps_[&function] = nullptr;
  auto made = std::make_unique<const FunctionSteps>(StepMaker(*this, function).run());
  return *(steps_[&function] = std::move(made));
}

const KernelFacts& ProgramSteps::kernel(const PrimFunc& function) {
  const auto known = kernels_.find(&function);
  if (known != kernels_.end()) return known->second;
  KernelFacts facts;
  facts.accesses = param_accesses(function);
  RangeProver prover;
  std::vector<Buffer> results;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const Buffer* buffer = function.params[i].buffer();
    if (!buffer) continue;
    for (const Scalar& dim : buffer->shape())
      if (const auto var = dim.as_var()) prover.assume_dimension(*var);
    if (facts.accesses[i].written) results.push_back(*buffer);
  }
  const auto written = written_first(function.body, results, prover);
  for (const PrimParam& param : function.params)
    facts.clear.push_back(param.buffer() && !written.contains(param.buffer()->id()));
  return kernels_.emplace(&function, std::move(facts)).first->second;
}

const OpCall* ProgramSteps::operator_of(const Expr& call_tir) const {
  if (!operators_) return nullptr;
  const auto found = operators_->find(&call_tir.node());
  if (found == operators_->end()) return nullptr;
  const auto* call = found->second.as<OpCall>();
  return call->op->eval ? call : nullptr;
}

std::optional<std::string> packed_symbol(const Module& module, const Expr& callee) {
  if (const auto* external = callee.as<ExternFunc>()) return external->symbol;
  const auto* global = callee.as<GlobalRef>();
  const ExternFunctionPtr function = global ? module.extern_function(global->name) : nullptr;
  return function ? std::optional(function->symbol) : std::nullopt;
}

}  // namespace relish::jit

// The pipeline up to units of code.
#include "jit/engine/emit_program.h"

#include "ir/calls/direct_calls.h"
#include "ir/rewriting/rewrite.h"
#include "jit/engine/compile.h"
#include "jit/graph/codegen_graph.h"
#include "jit/steps/compilable.h"
#include "jit/steps/planned_module.h"
#include "schedule/fusion/fuse.h"
#include "schedule/schedule.h"
#include "transform/inline_calls.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

namespace {

// What is told of kernels is told of the text that was scheduled.
void before_schedule(std::vector<WatchedKernel>& kernels, const Module& unscheduled) {
  for (WatchedKernel& kernel : kernels)
    if (const PrimFuncPtr found = unscheduled.prim_func(kernel.function->name)) kernel.function = found;
}

Module part_of(const Module& module, const std::vector<GlobalFunction>& functions) {
  Module part;
  part.name = module.name;
  part.functions = functions;
  part.check_well_formed = module.check_well_formed;
  return part;
}

bool calls_values(const Function& function) {
  bool found = false;
  for_each_expr(function, [&](const Expr& expr) {
    const auto* call = expr.as<FunctionCall>();
    found = found || (call && !call->callee.as<GlobalRef>());
  });
  return found;
}

void emit_kernel(CodeUnits& taker, const Target& target, const ProgramSource& source, bool watched,
                 EmittedProgram& emitted) {
  const Module part = source.part();
  require_compilable(part.functions);
  const Module fused = fuse(part);
  const LiftedModule alone{schedule(fused, target), {}};
  GraphEmitter emitter(ProgramSteps(alone), taker, emitted.sites, nullptr,
                       watched ? &emitted.watched : nullptr);
  emitted.symbol = emitter.finish(emitter.entry_of(*alone.module.prim_func(name_of(source.entry()))));
  before_schedule(emitted.watched, fused);
}

void emit_graph(CodeUnits& taker, const Target& target, const ProgramSource& source, bool watched,
                EmittedProgram& emitted) {
  const std::string name = name_of(source.entry());
  const LoweredProgram program = lowered_program(source.joined(), source.unknown, target);
  const LiftedModule& lowered = program.lifted;
  const FunctionPtr function = lowered.module.function(name);
  GraphEmitter emitter(ProgramSteps(program), taker, emitted.sites, &emitted.host_calls,
                       watched ? &emitted.watched : nullptr);
  const step::Donated donated =
      calls_directly(source.part(), name) ? step::Donated() : donated_leaves(*function, source.given);
  emitted.symbol = emitter.finish(emitter.function(*function, donated));
  const FunctionSteps& steps = emitter.steps().of(*function, donated);
  emitted.layout = FunctionLayout{steps.places, steps.params, steps.result, donated};
  for (WatchedKernel& kernel : emitted.watched) kernel.apart = emitter.steps().apart(kernel.function->name);
  before_schedule(emitted.watched, program.unscheduled);
  before_schedule(emitted.watched, emitter.steps().kernels_in_place());
  for (const GlobalFunction& each : lowered.module.functions) {
    const auto* graph = std::get_if<FunctionPtr>(&each);
    if (!graph) continue;
    // Function values may call each other without end.
    emitted.recursive = emitted.recursive || lifted_function(lowered.functions, (*graph)->name).recursive ||
                        calls_values(**graph);
  }
  emitted.constants = constants_of({lowered.module.functions.begin(), lowered.module.functions.end()});
}

}  // namespace

Module ProgramSource::part() const { return part_of(module, functions); }

Module ProgramSource::joined() const {
  const Module inlined = with_single_calls_inlined(part());
  return part_of(module, reachable_functions(inlined, name_of(entry())));
}

EmittedProgram emit_program(CodeUnits& taker, const Target& target, const ProgramSource& source,
                            bool watched) {
  EmittedProgram emitted;
  if (std::holds_alternative<PrimFuncPtr>(source.entry()))
    emit_kernel(taker, target, source, watched, emitted);
  else
    emit_graph(taker, target, source, watched, emitted);
  return emitted;
}

std::vector<Tensor> constants_of(const std::vector<GlobalFunction>& functions) {
  std::vector<Tensor> constants;
  for (const GlobalFunction& each : functions) {
    const auto* graph = std::get_if<FunctionPtr>(&each);
    if (!graph) continue;
    for_each_expr(**graph, [&](const Expr& expr) {
      if (const auto* constant = expr.as<Constant>()) constants.push_back(constant->value);
    });
  }
  return constants;
}

}  // namespace relish::jit

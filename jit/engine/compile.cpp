// The pipeline of compilation.
#include "jit/engine/compile.h"

#include <algorithm>
#include <unordered_set>

#include "ir/calls/direct_calls.h"
#include "ir/rewriting/rewrite.h"
#include "jit/graph/codegen_graph.h"
#include "jit/jit.h"
#include "jit/steps/compilable.h"
#include "jit/steps/planned_module.h"
#include "loops/prim_calls.h"
#include "schedule/fuse.h"
#include "schedule/schedule.h"
#include "support/big_stack.h"
#include "transform/inline_calls.h"
#include "transform/legalize.h"
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

// The functions with calls inlined as `lower` shows it, without those that the first one reaches no more.
Module with_calls_joined(const Module& module, const std::vector<GlobalFunction>& functions) {
  const Module joined = with_single_calls_inlined(part_of(module, functions));
  return part_of(module, reachable_functions(joined, name_of(functions.front())));
}

}  // namespace

std::vector<GlobalFunction> reachable_functions(const Module& module, std::string_view name) {
  const GlobalFunction* entry = module.find(name);
  RELISH_CHECK(entry != nullptr, std::string(name));
  std::vector<GlobalFunction> reached{*entry};
  std::unordered_set<std::string> known{name_of(*entry)};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&reached[i]);
    if (!function) continue;
    for (const std::string& callee : global_references(**function)) {
      if (!known.insert(callee).second) continue;
      if (const GlobalFunction* found = module.find(callee)) reached.push_back(*found);
    }
  }
  return reached;
}

std::shared_ptr<const Compiled> compile(Engine& engine, const Module& module,
                                        const std::vector<GlobalFunction>& functions, UnknownShapes unknown,
                                        const GivenParams& given, bool watched) {
  auto compiled = std::make_shared<Compiled>();
  const Module part = part_of(module, functions);
  const std::string name = name_of(functions.front());
  Build build(engine);
  std::string symbol;
  compiled->direct = calls_directly(part, name);
  if (std::holds_alternative<PrimFuncPtr>(functions.front())) {
    require_compilable(part.functions);
    const Module fused = fuse(part);
    const LiftedModule alone{schedule(fused, engine.target()), {}};
    GraphEmitter emitter(ProgramSteps(alone), build, compiled->sites, nullptr,
                         watched ? &compiled->watched : nullptr);
    symbol = emitter.finish(emitter.entry_of(*alone.module.prim_func(name)));
    before_schedule(compiled->watched, fused);
  } else {
    const LoweredProgram program =
        lowered_program(with_calls_joined(module, functions), unknown, engine.target());
    const LiftedModule& lowered = program.lifted;
    const FunctionPtr function = lowered.module.function(name);
    GraphEmitter emitter(ProgramSteps(program), build, compiled->sites, &compiled->host_calls,
                         watched ? &compiled->watched : nullptr);
    const step::Donated donated = compiled->direct ? step::Donated() : donated_leaves(*function, given);
    symbol = emitter.finish(emitter.function(*function, donated));
    const FunctionSteps& steps = emitter.steps().of(*function, donated);
    compiled->layout = FunctionLayout{steps.places, steps.params, steps.result, donated};
    for (WatchedKernel& kernel : compiled->watched)
      kernel.apart = emitter.steps().apart(kernel.function->name);
    before_schedule(compiled->watched, program.unscheduled);
    before_schedule(compiled->watched, emitter.steps().kernels_in_place());
    for (const GlobalFunction& each : lowered.module.functions) {
      const auto* graph = std::get_if<FunctionPtr>(&each);
      if (!graph) continue;
      compiled->recursive =
          compiled->recursive || lifted_function(lowered.functions, (*graph)->name).recursive;
      for_each_expr(**graph, [&](const Expr& expr) {
        // Function values may call each other without end.
        const auto* call = expr.as<FunctionCall>();
        compiled->recursive = compiled->recursive || (call && !call->callee.as<GlobalRef>());
        if (const auto* constant = expr.as<Constant>()) compiled->constants.push_back(constant->value);
      });
    }
  }
  compiled->code = build.finish({symbol}, compiled->sites,
                                std::visit([](const auto& held) { return held->span; }, functions.front()));
  compiled->entry = reinterpret_cast<EntryFn>(compiled->code->address(symbol));
  return compiled;
}

std::shared_ptr<const Compiled> plan(const Target& target, const Module& module,
                                     const std::vector<GlobalFunction>& functions, UnknownShapes unknown,
                                     const GivenParams& given) {
  const Module part = part_of(module, functions);
  const std::string name = name_of(functions.front());
  auto made = std::make_shared<Plan>();
  if (std::holds_alternative<PrimFuncPtr>(functions.front())) {
    require_compilable(functions);
    made->kernel = schedule(fuse(part), target).prim_func(name);
  } else {
    made->program = lowered_program(with_calls_joined(module, functions), unknown, target);
    const LiftedModule& lowered = made->program->lifted;
    made->steps = std::make_unique<ProgramSteps>(*made->program);
    for (const GlobalFunction& each : lowered.module.functions)
      if (const auto* graph = std::get_if<FunctionPtr>(&each)) made->steps->of(**graph);
    const FunctionPtr entry = lowered.module.function(name);
    if (!calls_directly(part, name)) made->donated = donated_leaves(*entry, given);
    made->steps->of(*entry, made->donated);
  }
  auto compiled = std::make_shared<Compiled>();
  compiled->plan = std::move(made);
  return compiled;
}

}  // namespace relish::jit

namespace relish {

Module planned(const ModulePtr& module, const Target& target,
               const std::map<std::string, GivenParams>& given) {
  Module made;
  with_big_stack([&] {
    const Module written = with_single_calls_inlined(prim_calls_inlined(module));
    made = jit::planned_module(jit::lowered_program(written, UnknownShapes::Kept, target), written.names(),
                               given);
  });
  return made;
}

}  // namespace relish

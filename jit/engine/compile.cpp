// The pipeline of compilation.
#include "jit/engine/compile.h"

#include <unordered_set>

#include "ir/calls/direct_calls.h"
#include "ir/rewriting/rewrite.h"
#include "jit/engine/emit_program.h"
#include "jit/engine/kept_program.h"
#include "jit/engine/object_key.h"
#include "jit/jit.h"
#include "jit/object_store.h"
#include "jit/steps/compilable.h"
#include "jit/steps/planned_module.h"
#include "loops/explicit_wraps.h"
#include "loops/prim_calls.h"
#include "loops/written_first.h"
#include "schedule/fusion/fuse.h"
#include "schedule/schedule.h"
#include "support/big_stack.h"
#include "transform/inline_calls.h"
#include "transform/legalize.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

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

namespace {

std::vector<bool> written_first_in(const GlobalFunction& entry) {
  const auto* function = std::get_if<PrimFuncPtr>(&entry);
  return function ? parameters_written_first(*with_explicit_wraps(*function)) : std::vector<bool>();
}

}  // namespace

std::shared_ptr<const Compiled> compile(Engine& engine, const Module& module,
                                        const std::vector<GlobalFunction>& functions, UnknownShapes unknown,
                                        const GivenParams& given, bool watched) {
  const ProgramSource source{module, functions, unknown, given};
  const bool direct = calls_directly(source.part(), name_of(source.entry()));
  // The program as a whole may be there. What is watched has other code and tells of its kernels.
  ObjectStore* const store = watched ? nullptr : engine.store().get();
  std::optional<std::string> key;
  if (store)
    if (const std::optional<std::string> text = program_text(source, engine.target()))
      key = program_key(engine.machine(), *text);
  if (key)
    if (const std::optional<std::string> kept = store->find(*key))
      if (std::shared_ptr<Compiled> compiled = program_of_kept(engine, *kept, source)) {
        compiled->direct = direct;
        compiled->written_first = written_first_in(source.entry());
        return compiled;
      }
  Build build(engine);
  EmittedProgram emitted = emit_program(build, engine.target(), source, watched);
  auto compiled = std::make_shared<Compiled>();
  compiled->code = build.finish({emitted.symbol}, emitted.sites, source.span());
  compiled->entry = reinterpret_cast<EntryFn>(compiled->code->address(emitted.symbol));
  if (key)
    if (const std::optional<std::string> kept = kept_form(emitted, source, build.keys()))
      store->keep(*key, *kept);
  compiled->direct = direct;
  compiled->written_first = written_first_in(source.entry());
  compiled->recursive = emitted.recursive;
  compiled->sites = std::move(emitted.sites);
  compiled->constants = std::move(emitted.constants);
  compiled->host_calls.are(std::move(emitted.host_calls));
  compiled->layout = std::move(emitted.layout);
  compiled->watched = std::move(emitted.watched);
  return compiled;
}

std::shared_ptr<const Compiled> plan(const Target& target, const Module& module,
                                     const std::vector<GlobalFunction>& functions, UnknownShapes unknown,
                                     const GivenParams& given) {
  const ProgramSource source{module, functions, unknown, given};
  const Module part = source.part();
  const std::string name = name_of(source.entry());
  auto made = std::make_shared<Plan>();
  if (std::holds_alternative<PrimFuncPtr>(functions.front())) {
    require_compilable(functions);
    made->kernel = schedule(fuse(part), target).prim_func(name);
  } else {
    made->program = lowered_program(source.joined(), unknown, target);
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

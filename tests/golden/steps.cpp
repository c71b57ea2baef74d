// Golden files of steps: what compiled code of each Relax function of the module does, before any code.
#include "frontend/reader.h"
#include "jit/steps/print_steps.h"
#include "jit/steps/program_steps.h"
#include "support/big_stack.h"
#include "support/failure.h"
#include "tests/golden/commands.h"
#include "tests/golden/reading.h"

namespace relish::testing {
namespace {

std::string steps_of(const Module& module) {
  const jit::LoweredProgram program = jit::lowered_program(module, UnknownShapes::Kept);
  jit::ProgramSteps steps(program);
  std::string text;
  for (const GlobalFunction& function : program.lifted.module.functions) {
    const auto* graph = std::get_if<FunctionPtr>(&function);
    if (!graph) continue;
    text += (text.empty() ? "" : "\n") + jit::print_steps(steps.of(**graph));
    steps.make_donated(**graph);
  }
  // As callers use them that give something up.
  for (const jit::FunctionSteps* each : steps.with_donations()) text += "\n" + jit::print_steps(*each);
  return text;
}

}  // namespace

Outcome run_steps(const GoldenFile& file) {
  Outcome outcome;
  Diagnostics diagnostics;
  const ReadResult read = read_source(add_source(file), reading_options(file), diagnostics);
  outcome.diagnostics = diagnostics.all();
  if (diagnostics.has_errors()) {
    outcome.exit_code = exit_code_of(diagnostics.first_error_class());
    return outcome;
  }
  with_big_stack([&] {
    try {
      for (const ModulePtr& module : read.all_modules()) outcome.output += steps_of(*module);
    } catch (const Failure& failure) {
      outcome.diagnostics = failure.diagnostics();
      outcome.exit_code = failure.exit_code();
    }
  });
  return outcome;
}

}  // namespace relish::testing

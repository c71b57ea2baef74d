// Golden files of steps: what compiled code of each Relax function of the module does, before any code.
#include "jit/steps/print_steps.h"
#include "jit/steps/program_steps.h"
#include "tests/golden/commands.h"
#include "tests/golden/module_text.h"

namespace relish::testing {
namespace {

std::string text_of_steps(const Module& module) {
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

Outcome run_steps(const GoldenFile& file) { return outcome_of_modules(file, text_of_steps); }

}  // namespace relish::testing

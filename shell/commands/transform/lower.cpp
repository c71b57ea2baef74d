// The command `lower`: the module behind a pass of the compiled tier.
#include <fmt/format.h>

#include <algorithm>

#include "jit/jit.h"
#include "loops/prim_calls.h"
#include "schedule/fusion/fuse.h"
#include "schedule/schedule.h"
#include "shell/commands/subject.h"
#include "support/suggest.h"
#include "train/step_function.h"
#include "transform/inline_calls.h"
#include "transform/legalize.h"

namespace relish::commands_lower {
namespace {

constexpr Option options[] = {
    {"to", OptionKind::Text, "schedule", "the last pass that is done: legalize, fuse, schedule or plan"},
    output_option,
    dialect_option};
constexpr Example examples[] = {{"relish lower m.relish --to fuse", "L = lower(M, to=\"fuse\")"}};

// What `train` gives up to the functions of a trainer.
std::map<std::string, GivenParams> given_to_steps(const Module& module) {
  std::map<std::string, GivenParams> given;
  for (const GlobalFunction& function : module.functions) {
    const auto* graph = std::get_if<FunctionPtr>(&function);
    if (!graph) continue;
    if (GivenParams params = given_in_training(**graph); !params.empty())
      given.emplace((*graph)->name, std::move(params));
  }
  return given;
}

ScriptValue run(Invocation& invocation) {
  const std::string last = invocation.text("to", "schedule");
  const std::vector<std::string> passes{"legalize", "fuse", "schedule", "plan"};
  const auto found = std::find(passes.begin(), passes.end(), last);
  if (found == passes.end())
    fail(ErrorClass::Usage, invocation.span_of("to"), "lower.pass",
         fmt::format("to: found '{}'; expected legalize, fuse, schedule or plan{}", last,
                     did_you_mean(last, passes)));
  if (last == "plan")
    return module_result(planned(invocation.module, this_machine(), given_to_steps(*invocation.module)));
  Module module = legalize(with_single_calls_inlined(prim_calls_inlined(invocation.module)));
  if (found > passes.begin()) module = fuse(module);
  if (found > passes.begin() + 1) module = schedule(module, this_machine());
  return module_result(std::move(module));
}

}  // namespace

extern const Command command_lower;
const Command command_lower{
    .name = "lower",
    .summary = "the module as the compiled tier has it behind one of its passes",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Behind `plan` stands what runs, with its memory: what is written over a value that ends there is a call "
        "of R.call_tir_inplace, and a function whose caller gives arguments up, as `train` does to a step, has a "
        "copy for that, named `_given`. Whoever else runs this text copies what somebody still sees.",
    .transforms = true,
};

}  // namespace relish::commands_lower

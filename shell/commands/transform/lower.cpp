// The command `lower`: the module behind a pass of the compiled tier.
#include <fmt/format.h>

#include <algorithm>

#include "jit/jit.h"
#include "loops/prim_calls.h"
#include "schedule/fuse.h"
#include "schedule/schedule.h"
#include "shell/commands/subject.h"
#include "support/suggest.h"
#include "transform/legalize.h"

namespace relish::commands_lower {
namespace {

constexpr Option options[] = {
    {"to", OptionKind::Text, "schedule", "the last pass that is done: legalize, fuse or schedule"},
    output_option,
    dialect_option};
constexpr Example examples[] = {{"relish lower m.relish --to fuse", "L = lower(M, to=\"fuse\")"}};

ScriptValue run(Invocation& invocation) {
  const std::string last = invocation.text("to", "schedule");
  const std::vector<std::string> passes{"legalize", "fuse", "schedule"};
  const auto found = std::find(passes.begin(), passes.end(), last);
  if (found == passes.end())
    fail(ErrorClass::Usage, invocation.span_of("to"), "lower.pass",
         fmt::format("to: found '{}'; expected legalize, fuse or schedule{}", last,
                     did_you_mean(last, passes)));
  Module module = legalize(prim_calls_inlined(invocation.module));
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
    .transforms = true,
};

}  // namespace relish::commands_lower

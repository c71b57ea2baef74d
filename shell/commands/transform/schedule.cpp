// The command `schedule`.
#include "schedule/schedule.h"

#include <fmt/format.h>

#include "jit/jit.h"
#include "loops/prim_calls.h"
#include "schedule/fusion/fuse.h"
#include "shell/commands/subject.h"
#include "support/suggest.h"
#include "transform/legalize.h"

namespace relish::commands_schedule {
namespace {

constexpr Option options[] = {
    output_option,
    dialect_option,
    {"machine", OptionKind::Text, "this",
     "processor that tiles are cut for: this, whose code runs here, or generic (vectors of 32 bytes)"}};
constexpr Example examples[] = {{"relish schedule m.relish", "S = schedule(M)"}};

ScriptValue run(Invocation& invocation) {
  const std::string machine = invocation.text("machine", "this");
  if (machine != "this" && machine != "generic")
    fail(ErrorClass::Usage, invocation.span_of("machine"), "schedule.machine",
         fmt::format("machine: found '{}'; expected this or generic{}", machine,
                     did_you_mean(machine, std::vector<std::string>{"this", "generic"})));
  const Target target = machine == "this" ? this_machine() : Target{};
  return module_result(schedule(fuse(legalize(prim_calls_inlined(invocation.module))), target));
}

}  // namespace

extern const Command command_schedule;
const Command command_schedule{
    .name = "schedule",
    .summary =
        "lowers operator calls, fuses them and puts the loops of prim_funcs into the order in which they run compiled",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .transforms = true,
};

}  // namespace relish::commands_schedule

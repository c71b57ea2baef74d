// The command `schedule`.
#include "schedule/schedule.h"

#include "jit/jit.h"
#include "loops/prim_calls.h"
#include "shell/commands/subject.h"
#include "transform/legalize.h"

namespace relish::commands_schedule {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish schedule m.relish", "S = schedule(M)"}};

ScriptValue run(Invocation& invocation) {
  return module_result(schedule(legalize(prim_calls_inlined(invocation.module)), this_machine()));
}

}  // namespace

extern const Command command_schedule;
const Command command_schedule{
    .name = "schedule",
    .summary =
        "lowers operator calls and puts the loops of prim_funcs into the order in which they run compiled",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .transforms = true,
};

}  // namespace relish::commands_schedule

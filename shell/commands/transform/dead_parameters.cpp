// The command `dead_parameters`.
#include "transform/dead_parameters.h"

#include "shell/commands/subject.h"

namespace relish::commands_dead_parameters {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish dead-parameters m.relish", "D = dead_parameters(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(remove_dead_parameters(*invocation.module)); }

}  // namespace

extern const Command command_dead_parameters;
const Command command_dead_parameters{
    .name = "dead_parameters",
    .summary = "drops parameters that nothing uses",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc = "Of private functions that are only called. What callers computed for them stays for dce.",
    .transforms = true,
};

}  // namespace relish::commands_dead_parameters

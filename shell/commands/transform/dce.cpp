// The command `dce`.
#include "shell/commands/subject.h"
#include "transform/dead_code.h"

namespace relish::commands_dce {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish dce m.relish", "D = dce(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(eliminate_dead_code(*invocation.module)); }

}  // namespace

extern const Command command_dce;
const Command command_dce{
    .name = "dce",
    .summary = "removes bindings that nothing uses and private functions that nothing reaches",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .transforms = true,
};

}  // namespace relish::commands_dce

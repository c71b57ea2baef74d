// The command `legalize`.
#include "transform/legalize.h"

#include "shell/commands/subject.h"

namespace relish::commands_legalize {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish legalize m.relish -o lowered.relish", "L = legalize(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(legalize(*invocation.module)); }

}  // namespace

extern const Command command_legalize;
const Command command_legalize{
    .name = "legalize",
    .summary = "lowers operator calls to call_tir of prim_funcs",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .transforms = true,
};

}  // namespace relish::commands_legalize

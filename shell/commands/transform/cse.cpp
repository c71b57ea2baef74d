// The command `cse`.
#include "transform/common_values.h"

#include "shell/commands/subject.h"

namespace relish::commands_cse {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish cse m.relish", "C = cse(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(eliminate_common_values(*invocation.module)); }

}  // namespace

extern const Command command_cse;
const Command command_cse{
    .name = "cse",
    .summary = "computes equal values once",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Equal in operation, operands, attributes and type, and without effects. A branch does not take what the other one computed.",
    .transforms = true,
};

}  // namespace relish::commands_cse

// The command `expand_tuples`.
#include "transform/expand_tuples.h"

#include "shell/commands/subject.h"

namespace relish::commands_expand_tuples {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish expand-tuples m.relish", "E = expand_tuples(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(expand_tuples(*invocation.module)); }

}  // namespace

extern const Command command_expand_tuples;
const Command command_expand_tuples{
    .name = "expand_tuples",
    .summary = "takes tuples among parameters apart into their fields",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc = "Of private functions that are only called. Public ones keep their parameters.",
    .transforms = true,
};

}  // namespace relish::commands_expand_tuples

// The command `normalize`.
#include "transform/normalize.h"

#include "shell/commands/subject.h"

namespace relish::commands_normalize {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish normalize m.relish", "N = normalize(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(normalize(*invocation.module)); }

}  // namespace

extern const Command command_normalize;
const Command command_normalize{
    .name = "normalize",
    .summary = "joins neighbouring blocks, and keeps inside a block what nothing behind it takes",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc = "Values are single steps since they were read; this makes their blocks plain.",
    .transforms = true,
};

}  // namespace relish::commands_normalize

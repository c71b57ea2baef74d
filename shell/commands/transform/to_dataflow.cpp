// The command `to_dataflow`.
#include "transform/to_dataflow.h"

#include "shell/commands/subject.h"

namespace relish::commands_to_dataflow {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish to-dataflow m.relish", "D = to_dataflow(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(to_dataflow(*invocation.module)); }

}  // namespace

extern const Command command_to_dataflow;
const Command command_to_dataflow{
    .name = "to_dataflow",
    .summary = "makes dataflow blocks of bindings without effects",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Runs of at least two bindings, also in branches, loops and nested functions; the block gives what is used behind it.",
    .transforms = true,
};

}  // namespace relish::commands_to_dataflow

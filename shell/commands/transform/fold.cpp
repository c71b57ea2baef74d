// The command `fold`.
#include "transform/fold.h"

#include "shell/commands/subject.h"

namespace relish::commands_fold {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish fold m.relish", "F = fold(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(fold(*invocation.module)); }

}  // namespace

extern const Command command_fold;
const Command command_fold{
    .name = "fold",
    .summary = "computes operators whose operands are constants",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "The results become constants. What would fault stays, and so does a result that is larger than its operands by more than 64 KiB.",
    .transforms = true,
};

}  // namespace relish::commands_fold

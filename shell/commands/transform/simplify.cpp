// The command `simplify`.
#include "transform/simplify.h"

#include "shell/commands/subject.h"

namespace relish::commands_simplify {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish simplify m.relish", "S = simplify(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(simplify(*invocation.module)); }

}  // namespace

extern const Command command_simplify;
const Command command_simplify{
    .name = "simplify",
    .summary = "drops operators that do nothing, and pairs that undo each other",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "x + 0, x * 1, x / 1, transposes of transposes, chains of reshapes, casts there and back, selects between equals. Values stay the same to the bit, but that x + 0.0 keeps the sign of a zero.",
    .transforms = true,
};

}  // namespace relish::commands_simplify

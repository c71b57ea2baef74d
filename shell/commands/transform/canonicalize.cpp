// The command `canonicalize`.
#include "transform/canonicalize.h"

#include "shell/commands/subject.h"

namespace relish::commands_canonicalize {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish canonicalize m.relish", "C = canonicalize(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(canonicalize(*invocation.module)); }

}  // namespace

extern const Command command_canonicalize;
const Command command_canonicalize{
    .name = "canonicalize",
    .summary = "drops variables that only name another value, and casts that say nothing",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "y = x, a field of a tuple that was just made, and a match_cast to what is known go; their uses take the value itself.",
    .transforms = true,
};

}  // namespace relish::commands_canonicalize

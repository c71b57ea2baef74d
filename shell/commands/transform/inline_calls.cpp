// The command `inline`.
#include "transform/inline_calls.h"

#include "shell/commands/subject.h"

namespace relish::commands_inline_calls {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish inline m.relish", "N = inline(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(inline_calls(*invocation.module)); }

}  // namespace

extern const Command command_inline_calls;
const Command command_inline_calls{
    .name = "inline",
    .summary = "puts the bodies of functions in the place of their calls",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "A call stays when its function may come to call itself, when a user wrote the function's gradient, when "
        "an if or a loop would come into a dataflow block, and when the caller would grow beyond 100,000 "
        "bindings, or all functions together by 300,000. Private functions that nothing reaches any more go.",
    .transforms = true,
};

}  // namespace relish::commands_inline_calls

// The command `lambda_lift`.
#include "transform/lift_bodies.h"

#include "shell/commands/subject.h"

namespace relish::commands_lambda_lift {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish lambda-lift m.relish", "L = lambda_lift(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(lambda_lift(*invocation.module)); }

}  // namespace

extern const Command command_lambda_lift;
const Command command_lambda_lift{
    .name = "lambda_lift",
    .summary = "makes functions of the module of nested functions",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Such a function takes what it used of the function around it as further parameters, behind its own; "
        "calls give that. One that is used other than by a call stays.",
    .transforms = true,
};

}  // namespace relish::commands_lambda_lift

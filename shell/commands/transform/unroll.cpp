// The command `unroll`.
#include "transform/unroll.h"

#include "shell/commands/subject.h"

namespace relish::commands_unroll {
namespace {

constexpr Option options[] = {
    {"most", OptionKind::Integer, "16", "loops of more rounds stay"},
    output_option,
    dialect_option,
};
constexpr Example examples[] = {{"relish unroll m.relish --most 8", "U = unroll(M, most=8)"}};

ScriptValue run(Invocation& invocation) {
  return module_result(
      unroll(*invocation.module, {.most_rounds = invocation.integer("most", UnrollOptions{}.most_rounds)}));
}

}  // namespace

extern const Command command_unroll;
const Command command_unroll{
    .name = "unroll",
    .summary = "writes out for loops of few rounds",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc = "Loops whose bounds are numbers, inner ones first. A function stops growing at 100,000 bindings.",
    .transforms = true,
};

}  // namespace relish::commands_unroll

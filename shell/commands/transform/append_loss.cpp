// The command `append_loss`.
#include "transform/append_loss.h"

#include "shell/commands/spec_examples.h"
#include "shell/commands/subject.h"
#include "shell/commands/transform/loss_option.h"

namespace relish::commands_append_loss {
namespace {

constexpr Option options[] = {
    {"loss", OptionKind::Spec, "",
     "NAME(option=value, …) of the standard library, or a function MODULE.FUNCTION", 0, everywhere, true,
     loss_example},
    {"outputs", OptionKind::Integer, "1", "how many results of the function the loss takes"},
    {"name", OptionKind::Text, "<f>_loss", "name of the new function"},
    output_option,
    dialect_option,
};

constexpr Example examples[] = {
    {"relish append-loss m.relish -f main --loss cross_entropy",
     "L = append_loss(M.main, loss=\"cross_entropy\")"},
    {"relish loss m.relish --loss \"mse(reduction='sum')\"", "L = append_loss(M.main, loss=M.my_loss)"},
};

constexpr std::string_view aliases[] = {"loss"};

ScriptValue run(Invocation& invocation) {
  return module_result(append_loss(*invocation.module, function_of(invocation), loss_options(invocation)));
}

}  // namespace

extern const Command command_append_loss;
const Command command_append_loss{
    .name = "append_loss",
    .summary = "adds <f>_loss, a function with a loss on its result",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .aliases = aliases,
    .doc = "Adds `<f>_loss(params…, targets[, weights]) -> loss`, or `(loss, other outputs…)`.",
    .transforms = true,
};

}  // namespace relish::commands_append_loss

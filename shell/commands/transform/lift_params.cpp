// The command `lift_params`.
#include "transform/lift_params.h"

#include "shell/commands/subject.h"

namespace relish::commands_lift_params {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish lift-params m.relish", "L = lift_params(M)"}};

ScriptValue run(Invocation& invocation) { return module_result(lift_params(*invocation.module)); }

}  // namespace

extern const Command command_lift_params;
const Command command_lift_params{
    .name = "lift_params",
    .summary = "moves what is computed of weights alone into a function of its own",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Adds `<f>_transform_params(weights…) -> (values…)` for each function f whose attributes `num_input` or `relish.params` tell its weights; f then takes these values in place of the weights, behind its inputs. What R.builtin.stop_lift_params gives stays where it is.",
    .transforms = true,
};

}  // namespace relish::commands_lift_params

// The command `optimizer`.
#include "shell/commands/spec_examples.h"
#include "shell/commands/subject.h"
#include "shell/commands/training/trainer_options.h"
#include "shell/commands/transform/loss_option.h"
#include "transform/rebuild.h"
#include "transform/setup_trainer.h"

namespace relish::commands_optimizer {
namespace {

constexpr Option options[] = {
    {"optimizer", OptionKind::Spec, "", "NAME(option=value, …): sgd(lr=0.1), adam(lr=0.001), …", 0,
     everywhere, true, optimizer_example},
    {"wrt", OptionKind::Names, "the trained parameters", "parameters that it updates"},
    {"prefix", OptionKind::Text, "", prefix_doc},
    output_option,
    dialect_option,
};

constexpr Example examples[] = {
    {"relish optimizer m.relish -f main --optimizer \"sgd(lr=0.1)\"",
     "O = optimizer(M.main, optimizer=\"sgd(lr=0.1)\")"},
};

ScriptValue run(Invocation& invocation) {
  std::string name = function_of(invocation);
  const FunctionPtr function = relax_function(*invocation.module, name);
  const std::vector<std::string> names =
      parameters_of_model(*invocation.module, *function, invocation.names("wrt")).trained;
  std::vector<Type> types;
  for (const std::string& wanted : names) {
    for (const Var& param : function->params) {
      if (param.name() == wanted) types.push_back(param.type());
    }
  }
  OptimizerOptions wanted = spec_option(invocation, "optimizer");
  wanted.prefix = prefix_option(invocation);
  return module_result(add_optimizer(*invocation.module, wanted, types, names));
}

}  // namespace

extern const Command command_optimizer;
const Command command_optimizer{
    .name = "optimizer",
    .summary = "adds the update function of an optimizer and its initial states",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Adds `optimizer(params, gradients, states, lr) -> (params, states)` and `optimizer_init(params) -> "
        "states`.",
    .transforms = true,
};

}  // namespace relish::commands_optimizer

// The command `setup_trainer`.
#include "transform/setup_trainer.h"

#include "shell/commands/loss_option.h"
#include "shell/commands/subject.h"
#include "shell/commands/training.h"

namespace relish::commands_setup_trainer {
namespace {

constexpr Option options[] = {
    {"loss", OptionKind::Spec, "",
     "NAME(option=value, …) of the standard library, or a function MODULE.FUNCTION", 0, everywhere, true},
    {"optimizer", OptionKind::Spec, "", "NAME(option=value, …): sgd(lr=0.1), …", 0, everywhere, true},
    {"schedule", OptionKind::Spec, "", "NAME(option=value, …) of the learning rate: cosine(warmup=100), …"},
    {"init", OptionKind::Spec, "", init_doc},
    {"wrt", OptionKind::Names, "parameters marked by relish.params or num_input; else all but the first",
     "the trained parameters"},
    {"accumulate", OptionKind::Flag, "", "also add what a step over several batches is made of"},
    {"frozen", OptionKind::Names, "", frozen_doc},
    {"average", OptionKind::Real, "", average_doc},
    {"outputs", OptionKind::Integer, "1", "how many results of the function the loss takes"},
    output_option,
    dialect_option,
};

constexpr Example examples[] = {
    {"relish setup-trainer m.relish --loss cross_entropy --optimizer \"sgd(lr=0.1)\"",
     "T = setup_trainer(M.main, loss=\"cross_entropy\", optimizer=\"sgd(lr=0.1)\")"},
};

constexpr std::string_view aliases[] = {"trainer"};

ScriptValue run(Invocation& invocation) {
  SetupTrainerOptions wanted;
  wanted.loss = loss_options(invocation);
  wanted.optimizer = spec_option(invocation, "optimizer");
  wanted.schedule = spec_option(invocation, "schedule");
  wanted.initial = init_option(invocation);
  wanted.wrt = invocation.names("wrt");
  wanted.frozen = invocation.names("frozen");
  wanted.average = average_option(invocation);
  wanted.accumulate = invocation.flag("accumulate");
  return module_result(setup_trainer(*invocation.module, function_of(invocation), wanted));
}

}  // namespace

extern const Command command_setup_trainer;
const Command command_setup_trainer{
    .name = "setup_trainer",
    .summary = "adds loss, adjoint, optimizer and train_step of a model",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .aliases = aliases,
    .doc =
        "Adds `<f>_loss`, `<f>_loss_adjoint`, `optimizer`, `optimizer_init` and "
        "`train_step(params[, buffers], states, lr[, key], inputs…, targets) -> (loss, params[, buffers], "
        "states)`; with a schedule `learning_rate(lr, step, steps) -> lr`, with init `initial_params(key) -> "
        "params`. What each parameter and result is stands in the attribute `relish.role`. A model with "
        "dropout or batch_norm gets its training and its inference form too, as by `decompose`.",
    .transforms = true,
};

}  // namespace relish::commands_setup_trainer

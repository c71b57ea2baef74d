// The command `setup_trainer`.
#include "transform/setup_trainer.h"

#include "shell/commands/spec_examples.h"
#include "shell/commands/subject.h"
#include "shell/commands/training/trainer_options.h"
#include "shell/commands/training/training.h"
#include "shell/commands/transform/memory_budget.h"

namespace relish::commands_setup_trainer {
namespace {

constexpr Option options[] = {
    {"loss", OptionKind::Spec, "",
     "NAME(option=value, …) of the standard library, or a function MODULE.FUNCTION; left out when the first "
     "result of the model is its loss",
     0, everywhere, false, loss_example},
    {"optimizer", OptionKind::Spec, "", optimizer_doc, 0, everywhere, true, optimizer_example},
    {"lr", OptionKind::Real, "", lr_doc},
    {"clip_norm", OptionKind::Real, "", clip_norm_doc},
    {"clip_value", OptionKind::Real, "", clip_value_doc},
    {"groups", OptionKind::Spec, "", groups_doc},
    {"precision", OptionKind::Text, "float32", precision_doc},
    {"schedule", OptionKind::Spec, "", "NAME(option=value, …) of the learning rate: cosine(warmup=100), …", 0,
     everywhere, false, schedule_example},
    {"init", OptionKind::Spec, "", init_doc, 0, everywhere, false, init_example},
    {"wrt", OptionKind::Names, "parameters marked by relish.params or num_input; else all but the first",
     "the trained parameters"},
    {"accumulate", OptionKind::Flag, "", "also add what a step over several batches is made of"},
    {"frozen", OptionKind::Names, "", frozen_doc},
    {"average", OptionKind::Real, "", average_doc},
    {"grad_norm", OptionKind::Flag, "", grad_norm_doc},
    {"outputs", OptionKind::Integer, "1", "how many results of the function the loss takes"},
    {"memory_budget", OptionKind::Text, "", step_budget_doc},
    {"dim", OptionKind::Assignments, "",
     "sizes of symbolic dimensions that become numbers: n=8,m=4; with memory_budget they stay symbolic, and the "
     "sizes are those for which it holds"},
    {"prefix", OptionKind::Text, "", prefix_doc},
    {"named", OptionKind::Flag, "", "statements get the first parameters, by init, as a dict by name"},
    output_option,
    dialect_option,
};

constexpr Example examples[] = {
    {"relish setup-trainer m.relish --loss cross_entropy --optimizer \"sgd(lr=0.1)\"",
     "T = setup_trainer(M.main, loss=\"cross_entropy\", optimizer=\"sgd(lr=0.1)\")"},
};

constexpr std::string_view aliases[] = {"trainer"};

ScriptValue run(Invocation& invocation) {
  const bool sizes_of_budget = invocation.given("memory_budget");
  if (!sizes_of_budget) bind_dims(invocation);
  SetupTrainerOptions wanted = trainer_options(invocation);
  wanted.initial = init_option(invocation);
  wanted.accumulate = invocation.flag("accumulate");
  wanted.prefix = prefix_option(invocation);
  wanted.named = invocation.flag("named");
  if (sizes_of_budget) wanted.budget = memory_budget_option(invocation);
  BudgetReport report;
  wanted.budget_report = &report;
  Module made = setup_trainer(*invocation.module, function_of(invocation), wanted);
  if (wanted.budget) tell_budget(invocation, report);
  return module_result(std::move(made));
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
        "Adds `<f>_loss`, `<f>_loss_adjoint`, `optimizer`, `optimizer_init`, "
        "`train_step(params[, buffers], states, lr[, key], inputs…, targets) -> (loss, params[, buffers], "
        "states)` and `train_epoch(params[, buffers], states, lr[, key, step], data…, order) -> (mean loss, "
        "params[, buffers], states)`, the steps over the rows that order has for each; with a schedule `learning_rate(lr, step, steps) -> lr`, with init `initial_params(key) -> "
        "params`. What each parameter and result is stands in the attribute `relish.role`. A model with "
        "dropout or batch_norm gets its training and its inference form too, as by `decompose`. A prefix stands "
        "before all names but those of these forms: `d_train_step`, `d_main_loss`.",
    .transforms = true,
};

}  // namespace relish::commands_setup_trainer

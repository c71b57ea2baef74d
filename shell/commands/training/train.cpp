// The command `train`.
#include "train/train.h"

#include <algorithm>
#include <filesystem>

#include "shell/commands/data/csv_options.h"
#include "shell/commands/spec_examples.h"
#include "shell/commands/subject.h"
#include "shell/commands/training/data_types.h"
#include "shell/commands/training/prepared_job.h"
#include "shell/commands/training/trainer_options.h"
#include "shell/commands/training/training.h"
#include "shell/commands/transform/memory_budget.h"
#include "shell/program/told_table.h"
#include "shell/progress.h"
#include "shell/script/script.h"
#include "shell/workspace/value_words.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish::commands_train {
namespace {

constexpr Option options[] = {
    {"data", OptionKind::Value, "",
     "(inputs…, targets), or a dict by names of parameters: tensors, paths, or lists of these whose rows "
     "follow each other; in the shell FILE[:ENTRY],FILE[:ENTRY]",
     0, everywhere, true},
    csv_option(csv_columns_option, in_shell),
    csv_option(csv_fill_option, in_shell),
    csv_option(csv_sep_option, in_shell),
    csv_option(csv_decimal_option, in_shell),
    csv_option(csv_header_option, in_shell),
    {"loss", OptionKind::Spec, "",
     "NAME(option=value, …) of the standard library, or a function of yours; left out when the first result "
     "of the model is its loss",
     0, everywhere, false, loss_example},
    {"optimizer", OptionKind::Spec, "", optimizer_doc, 0, everywhere, true, optimizer_example},
    {"lr", OptionKind::Real, "", lr_doc},
    {"clip_norm", OptionKind::Real, "", clip_norm_doc},
    {"clip_value", OptionKind::Real, "", clip_value_doc},
    {"groups", OptionKind::Spec, "", groups_doc},
    {"precision", OptionKind::Text, "float32", precision_doc},
    {"prepare", OptionKind::Names, "", prepare_doc},
    {"cast", OptionKind::Flag, "", cast_doc},
    {"outputs", OptionKind::Integer, "1", "how many results of the function the loss takes"},
    {"schedule", OptionKind::Spec, "", "NAME(option=value, …) of the learning rate: cosine(warmup=100), …", 0,
     everywhere, false, schedule_example},
    {"init", OptionKind::Spec, "", init_doc, 0, everywhere, false, init_example},
    {"epochs", OptionKind::Integer, "1", "passes over the data"},
    {"steps", OptionKind::Integer, "", "steps, in place of epochs"},
    {"batch_size", OptionKind::Integer, "what the function fixes, else 32", "rows of a step"},
    {"accumulate", OptionKind::Integer, "1",
     "batches of a step: their gradients are joined as if they were one batch"},
    {"seed", OptionKind::Integer, "that of the session, 0", "seed of initial values and of the order of rows",
     0, in_scripts},
    {"shuffle", OptionKind::Text, "True",
     "False: the rows of each epoch in the order of the data, as of a series in time"},
    {"validation", OptionKind::Value, "",
     "data that are looked at after every epoch, as `data`; or the share of its rows that is kept for it, such "
     "as 0.1"},
    {"metrics", OptionKind::Names, "", metrics_doc},
    {"wrt", OptionKind::Names, "parameters marked by relish.params or num_input; else all but the first",
     "the trained parameters"},
    {"params", OptionKind::Tensors, "",
     "start values by name, and values of parameters that are not trained"},
    {"dim", OptionKind::Assignments, "", dims_doc},
    {"init_missing", OptionKind::Flag, "", "draw start values of weights that params does not have"},
    {"ignore_extra", OptionKind::Flag, "", ignore_extra_doc},
    {"frozen", OptionKind::Names, "", frozen_doc},
    {"average", OptionKind::Real, "", average_doc},
    {"memory_budget", OptionKind::Text, "", step_budget_doc},
    {"prefix", OptionKind::Text, "", prefix_doc},
    {"early_stopping", OptionKind::Spec, "",
     "METRIC(patience=5, min_delta=0): the job ends when this metric of the validation data has not become "
     "better for so many epochs",
     0, everywhere, false, early_stopping_example},
    {"nan", OptionKind::Text, "stop",
     "what a step does whose loss, parameters or states are not finite: stop ends the job with exit code 8, "
     "skip leaves the step out and counts it"},
    {"grad_norm", OptionKind::Flag, "", grad_norm_doc},
    {"log_every", OptionKind::Text, "100", log_every_doc},
    {"run_dir", OptionKind::OutputFolder, "runs/<script>-<number>", run_dir_doc},
    {"resume", OptionKind::Text, "", resume_doc},
    {"overwrite", OptionKind::Flag, "", overwrite_doc},
    {"checkpoint_every", OptionKind::Text, "60s", checkpoint_every_doc},
    {"keep", OptionKind::Integer, "3", keep_doc},
    {"tensorboard", OptionKind::Flag, "", tensorboard_doc},
    {"html", OptionKind::Flag, "", html_doc},
    {"time_limit", OptionKind::Text, "", time_limit_doc, 0, in_shell},
};

constexpr Example examples[] = {
    {"relish train m.relish --data x.npy,y.npy --loss cross_entropy --optimizer \"sgd(lr=0.1)\" --epochs 10 "
     "--batch-size 64",
     "t = train(M.main, data=(x, y), loss=\"cross_entropy\", optimizer=\"sgd(lr=0.1)\", epochs=10, "
     "batch_size=64)"},
};

// Name and text of what started the job, for the run folder.
void describe_origin(const Invocation& invocation, RunRequest& request) {
  const SourceFile* source = Sources::instance().find(invocation.span.file);
  if (invocation.program) source = Sources::instance().find(invocation.program->source);
  if (!source) return;
  request.script_text = source->text();
  request.description.script = source->name();
  if (!source->name().starts_with('<') && source->name() != "-") {
    request.folder.script = std::filesystem::path(source->name()).stem().string();
  }
}

// What decides the job beside its data, as text: for its report, and for the comparison of jobs.
std::vector<std::pair<std::string, std::string>> told_options(const Invocation& invocation) {
  constexpr std::string_view others[] = {
      "data",   "validation", "params",      "batch_size", "seed", "log_every",        "run_dir",
      "resume", "overwrite",  "tensorboard", "html",       "keep", "checkpoint_every", "time_limit"};
  std::vector<std::pair<std::string, std::string>> told;
  for (const Option& option : invocation.command.options) {
    const ScriptValue* value = invocation.find(option.name);
    if (value == nullptr || std::find(std::begin(others), std::end(others), option.name) != std::end(others))
      continue;
    // The text of a function of the user's is no option; its name is.
    const std::string text = text_of(*value);
    told.emplace_back(option.name, text.find('\n') == std::string::npos ? text : describe(*value));
  }
  return told;
}

ScriptValue result_of(const TrainResult& result) {
  std::vector<std::pair<ScriptValue, ScriptValue>> parameters;
  for (const auto& [name, tensor] : result.parameters) parameters.emplace_back(name, tensor);
  std::vector<std::pair<ScriptValue, ScriptValue>> items;
  std::vector<std::pair<ScriptValue, ScriptValue>> buffers;
  for (const auto& [name, tensor] : result.parameters)
    if (std::find(result.buffers.begin(), result.buffers.end(), name) != result.buffers.end())
      buffers.emplace_back(name, tensor);
  items.emplace_back("params", ScriptValue::dict(std::move(parameters)));
  if (!buffers.empty()) items.emplace_back("buffers", ScriptValue::dict(std::move(buffers)));
  items.emplace_back("loss", result.loss);
  if (result.epoch_loss) items.emplace_back("epoch_loss", *result.epoch_loss);
  for (const auto& [name, value] : result.metrics) items.emplace_back(name, value);
  for (const auto& [name, value] : result.validation) items.emplace_back("validation_" + name, value);
  items.emplace_back("steps", result.steps);
  items.emplace_back("epochs", result.epochs);
  items.emplace_back("seconds", result.seconds);
  items.emplace_back("status", std::string(name_of(result.status)));
  items.emplace_back("run_dir", result.run_folder.empty() ? ScriptValue() : ScriptValue(result.run_folder));
  return ScriptValue::dict(std::move(items));
}

// What was done, and which weights stand where.
std::string ending_of(const TrainResult& result) {
  std::string text;
  if (result.steps_before == result.steps) {
    text = result.interrupt
               ? fmt::format("nothing was trained behind step {}", result.steps)
               : fmt::format("all {} were done; nothing was trained", counted(result.steps, "step"));
  } else {
    const double rate = result.seconds > 0 ? static_cast<double>(result.steps) / result.seconds : 0;
    text = fmt::format("trained {} in {:.1f} s ({:.0f} steps/s)", counted(result.steps, "step"),
                       result.seconds, rate);
  }
  if (result.run_folder.empty()) return text + "\n";
  text += fmt::format(", saved in {}", printable(result.run_folder, result.run_folder.size()));
  if (result.best_step && !result.interrupt)
    text += fmt::format(": final.safetensors has the last weights, best.safetensors those of step {}",
                        *result.best_step);
  return text + "\n";
}

ScriptValue run(Invocation& invocation) {
  Session& session = invocation.session;
  if (invocation.surface == Surface::Shell) start_time_limit(invocation);
  const std::string function = function_of(invocation);
  bind_dims(invocation);
  const PreparedJob job = prepare_job(invocation, function);
  const TrainOptions& wanted = job.options;

  RunRequest request;
  describe_origin(invocation, request);
  const bool unsaved = wants_no_folder(invocation);
  const std::uint32_t number = number_of_job(invocation);
  if (!unsaved) place_job(invocation, number, request);
  request.description.function = function;
  const auto text_of_option = [&](std::string_view option, std::string_view otherwise) {
    const ScriptValue* value = invocation.find(option);
    return !value ? std::string(otherwise) : value->string() ? *value->string() : describe(*value);
  };
  request.description.loss = text_of_option("loss", "of the model");
  request.description.optimizer = text_of_option("optimizer", "");
  request.description.settings = session.settings().sets;
  request.description.arguments = session.settings().arguments;
  request.description.options = told_options(invocation);

  TrainResult result;
  {
    const bool asked = job_text(invocation, "log_every").has_value();
    TrainingProgress progress(session, asked ? std::optional<Every>(wanted.log_every) : std::nullopt);
    result =
        train(session.evaluator(), job.program, job.data, wanted, unsaved ? nullptr : &request, &progress);
  }
  if (!result.run_folder.empty()) session.settings().job_folders.push_back(result.run_folder);
  if (result.interrupt && invocation.surface == Surface::Shell) throw Failure(*result.interrupt);
  // On standard error: the time and the folder's number differ from run to run.
  session.output().flush();
  write_error_text(ending_of(result));
  ScriptValue value = result_of(result);
  if (invocation.surface == Surface::Script) {
    // The statement is finished with what the job has; the interrupt holds for the one behind it.
    if (result.interrupt) {
      const std::vector<DiagnosticNote>& notes = result.interrupt->diagnostics().front().notes;
      if (!notes.empty()) note_interrupt(notes.back().text);
      interrupt_flag.store(signal_of_exit_code(result.interrupt->exit_code()));
    }
    // Weights are no answer to a person; the value has them.
    tell_table([&] { return entries_text(*value.dictionary()); });
    return value;
  }
  return fmt::format("loss {}", loss_text(result.epoch_loss.value_or(result.loss)));
}

}  // namespace

extern const Command command_train;
const Command command_train{
    .name = "train",
    .summary = "trains a model on data",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Steps compute the training form of the model, validation and metrics its inference form, as by "
        "`decompose`. Returns a dict: `params` (all parameters that have a value, trained, given or kept "
        "as running statistics), `buffers` (the running statistics alone, when there are any), `loss`, "
        "`epoch_loss`, "
        "the metrics of the training rows by name, those of the validation data with `validation_` before "
        "it, "
        "`steps`, `epochs`, `seconds`, `status` (`finished`, or `interrupted` or `time_limit`: then all is "
        "that "
        "of the last whole step), `run_dir`. With `run_dir=None` no run folder is made and nothing is written; "
        "`log_every=0` prints no lines.",
};

}  // namespace relish::commands_train

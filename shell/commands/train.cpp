// The command `train`.
#include "train/train.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "runtime/format.h"
#include "shell/commands/loss_option.h"
#include "shell/commands/subject.h"
#include "shell/commands/training.h"
#include "shell/progress.h"
#include "shell/script/script.h"
#include "stdlib/catalog.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "support/value_text.h"
#include "transform/setup_trainer.h"

namespace relish::commands_train {
namespace {

constexpr Option options[] = {
    {"data", OptionKind::Value, "", "(inputs…, targets); in the shell FILE[:ENTRY],FILE[:ENTRY]", 0,
     everywhere, true},
    {"loss", OptionKind::Spec, "", "NAME(option=value, …) of the standard library, or a function of yours", 0,
     everywhere, true},
    {"optimizer", OptionKind::Spec, "", "NAME(option=value, …): sgd(lr=0.1), …", 0, everywhere, true},
    {"outputs", OptionKind::Integer, "1", "how many results of the function the loss takes"},
    {"schedule", OptionKind::Spec, "", "NAME(option=value, …) of the learning rate: cosine(warmup=100), …"},
    {"init", OptionKind::Spec, "", init_doc},
    {"epochs", OptionKind::Integer, "1", "passes over the data"},
    {"steps", OptionKind::Integer, "", "steps, in place of epochs"},
    {"batch_size", OptionKind::Integer, "what the function fixes, else 32", "rows of a step"},
    {"accumulate", OptionKind::Integer, "1",
     "batches of a step: their gradients are joined as if they were one batch"},
    {"seed", OptionKind::Integer, "that of the session, 0", "seed of initial values and of the order of rows",
     0, in_scripts},
    {"validation", OptionKind::Value, "", "(inputs…, targets) that are looked at after every epoch"},
    {"metrics", OptionKind::Names, "",
     "metrics over the training rows and the validation data after every epoch: accuracy, "
     "accuracy(threshold=0.5), loss"},
    {"wrt", OptionKind::Names, "parameters marked by relish.params or num_input; else all but the first",
     "the trained parameters"},
    {"params", OptionKind::Tensors, "",
     "start values by name, and values of parameters that are not trained"},
    {"init_missing", OptionKind::Flag, "", "draw start values of weights that params does not have"},
    {"ignore_extra", OptionKind::Flag, "", "leave out values in params that the model does not have"},
    {"frozen", OptionKind::Names, "", frozen_doc},
    {"average", OptionKind::Real, "", average_doc},
    {"early_stopping", OptionKind::Spec, "",
     "METRIC(patience=5, min_delta=0): the job ends when this metric of the validation data has not become "
     "better for so many epochs"},
    {"nan", OptionKind::Text, "stop",
     "what a step does whose loss, parameters or states are not finite: stop ends the job with exit code 8, "
     "skip leaves the step out and counts it"},
    {"log_every", OptionKind::Text, "100", log_every_doc},
    {"run_dir", OptionKind::OutputFolder, "runs/<script>-<number>", run_dir_doc},
    {"resume", OptionKind::Text, "", resume_doc},
    {"overwrite", OptionKind::Flag, "", overwrite_doc},
    {"checkpoint_every", OptionKind::Text, "60s", checkpoint_every_doc},
    {"keep", OptionKind::Integer, "3", keep_doc},
    {"time_limit", OptionKind::Text, "", time_limit_doc, 0, in_shell},
};

constexpr Example examples[] = {
    {"relish train m.relish --data x.npy,y.npy --loss cross_entropy --optimizer \"sgd(lr=0.1)\" --epochs 10 "
     "--batch-size 64",
     "t = train(M.main, data=(x, y), loss=\"cross_entropy\", optimizer=\"sgd(lr=0.1)\", epochs=10, "
     "batch_size=64)"},
};

double learning_rate_of(const NamedSpec& spec) {
  const OptimizerEntry* entry = find_optimizer(spec.name);
  // An unknown optimizer is refused by setup_trainer, with the nearest name.
  if (!entry) return 0;
  OptimizerChoice choice = choose_optimizer(*entry, spec.options);
  if (choice.lr) return *choice.lr;
  fail(ErrorClass::Usage, {}, "optimizer.lr",
       fmt::format("optimizer {0}: the option lr is missing; write {0}(lr=0.1)", spec.name));
}

std::int64_t positive(const Invocation& invocation, std::string_view option, std::int64_t value) {
  if (value < 1) invocation.refuse_value(option, fmt::format("found {}; expected at least 1", value));
  return value;
}

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

// Adds initial_params for the parameters that have no value.
Module with_start_values(const Module& module, const Function& model, const InitialRules& rules,
                         const std::vector<std::string>& names, const TensorsByName& values,
                         TrainingProgram& program) {
  std::vector<bool> drawn;
  for (const std::string& name : names) drawn.push_back(!values.contains(name));
  if (std::find(drawn.begin(), drawn.end(), true) == drawn.end()) return module;
  for (const Var& param : model.params) {
    const auto found = std::find(names.begin(), names.end(), param.name());
    const bool drawn_here = found != names.end() && drawn[static_cast<std::size_t>(found - names.begin())];
    const TensorType* type = drawn_here ? param.type().tensor() : nullptr;
    if (!type || !type->shape) continue;
    const bool fixed = std::all_of(type->shape->begin(), type->shape->end(),
                                   [](const Scalar& dim) { return dim.as_int().has_value(); });
    if (!fixed) {
      fail(
          ErrorClass::Usage, {}, "train.params",
          fmt::format("parameter '{}' has no fixed shape; expected its start value in params", param.name()));
    }
  }
  program.initial_params = "initial_params";
  return add_initialiser(module, rules, model, names, drawn);
}

bool skips_not_finite(const Invocation& invocation) {
  const std::string policy = invocation.given("nan") ? invocation.text("nan") : "stop";
  if (policy != "stop" && policy != "skip")
    invocation.refuse_value("nan", fmt::format("found '{}'; expected stop or skip", printable(policy)));
  return policy == "skip";
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
  items.emplace_back("run_dir", result.run_folder);
  return ScriptValue::dict(std::move(items));
}

ScriptValue run(Invocation& invocation) {
  Session& session = invocation.session;
  if (invocation.surface == Surface::Shell) start_time_limit(invocation);
  std::string function = function_of(invocation);
  SetupTrainerOptions setup;
  setup.loss = loss_options(invocation);
  setup.optimizer = spec_option(invocation, "optimizer");
  setup.schedule = spec_option(invocation, "schedule");
  setup.wrt = invocation.names("wrt");
  setup.frozen = invocation.names("frozen");
  setup.average = average_option(invocation);
  if (invocation.given("steps") && invocation.given("epochs")) {
    fail(ErrorClass::Usage, invocation.span, "train.length",
         "epochs and steps contradict each other; give one of them");
  }

  TrainOptions wanted;
  wanted.epochs = positive(invocation, "epochs", invocation.integer("epochs", 1));
  if (invocation.given("steps")) wanted.steps = positive(invocation, "steps", invocation.integer("steps", 1));
  if (invocation.given("batch_size"))
    wanted.batch_size = positive(invocation, "batch_size", invocation.integer("batch_size", 1));
  wanted.accumulate = positive(invocation, "accumulate", invocation.integer("accumulate", 1));
  setup.accumulate = wanted.accumulate > 1;
  wanted.seed = static_cast<std::uint64_t>(
      invocation.integer("seed", static_cast<std::int64_t>(session.settings().seed)));
  wanted.parameters_place = invocation.span_of("params");
  wanted.batch_size_place = invocation.span_of("batch_size");
  wanted.log_every = job_interval(invocation, "log_every", wanted.log_every);
  wanted.checkpoint_every = job_interval(invocation, "checkpoint_every", wanted.checkpoint_every);
  DataSet data = data_set(invocation, "data");
  if (invocation.given("validation")) wanted.validation = data_set(invocation, "validation");
  wanted.learning_rate = learning_rate_of(setup.optimizer);
  wanted.early_stopping = early_stopping_option(invocation);
  wanted.skip_not_finite = skips_not_finite(invocation);

  TrainingProgram program;
  program.judgement = judgement_of(setup.loss);
  wanted.metrics = metrics_option(invocation, program.judgement);
  Module made = setup_trainer(*invocation.module, function, setup);
  const Function& model = *invocation.module->function(function);
  const ModelParameters changed = parameters_of_model(*invocation.module, model, setup.wrt, setup.frozen);
  std::vector<std::string> names = changed.trained, others;
  for (const auto* more : {&changed.buffers, &changed.frozen})
    names.insert(names.end(), more->begin(), more->end());
  for (const Var& param : model.params)
    if (std::find(names.begin(), names.end(), param.name()) == names.end()) others.push_back(param.name());
  wanted.parameters = start_values(invocation, names, others);
  if (!changed.frozen.empty())
    wanted.function_options["frozen"] = fmt::format("{}", fmt::join(changed.frozen, ", "));
  if (setup.average) wanted.function_options["average"] = format_double(*setup.average);
  made = with_start_values(made, model, init_option(invocation), names, wanted.parameters, program);
  program.module = std::make_shared<const Module>(std::move(made));
  const TrainerNames made_names = trainer_names(*invocation.module, model, setup.loss);
  program.inference = made_names.inference;
  program.loss = made_names.inference_loss;
  program.adjoint = made_names.loss + "_adjoint";
  if (setup.accumulate) {
    program.add_gradients = "add_gradients";
    program.apply_gradients = "apply_gradients";
  }
  program.loss_is_sum = is_summed(setup.loss);
  if (!setup.schedule.name.empty()) program.learning_rate = "learning_rate";

  RunRequest request;
  describe_origin(invocation, request);
  place_job(invocation, request);
  request.description.function = function;
  const ScriptValue& loss = *invocation.find("loss");
  request.description.loss = loss.string() ? *loss.string() : describe(loss);
  request.description.optimizer = invocation.text("optimizer");
  request.description.settings = session.settings().sets;

  TrainResult result;
  {
    const bool asked = job_text(invocation, "log_every").has_value();
    TrainingProgress progress(session, asked ? std::optional<Every>(wanted.log_every) : std::nullopt);
    result = train(session.evaluator(), program, data, wanted, &request, &progress);
  }
  if (session.settings().jobs && session.settings().first_job.empty())
    session.settings().first_job = result.run_folder;
  if (result.interrupt && invocation.surface == Surface::Shell) throw Failure(*result.interrupt);
  // On standard error: the time and the folder's number differ from run to run.
  double rate = result.seconds > 0 ? static_cast<double>(result.steps) / result.seconds : 0;
  session.output().flush();
  write_error_text(fmt::format("trained {} steps in {:.1f} s ({:.0f} steps/s), saved in {}\n", result.steps,
                               result.seconds, rate, result.run_folder));
  ScriptValue value = result_of(result);
  if (invocation.surface == Surface::Script) {
    // The statement is finished with what the job has; the interrupt holds for the one behind it.
    if (result.interrupt) {
      const std::vector<DiagnosticNote>& notes = result.interrupt->diagnostics().front().notes;
      if (!notes.empty()) note_interrupt(notes.back().text);
      interrupt_flag.store(signal_of_exit_code(result.interrupt->exit_code()));
    }
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
        "of the last whole step), `run_dir`.",
};

}  // namespace relish::commands_train

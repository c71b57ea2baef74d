// The command `train`.
#include "train/train.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "runtime/format.h"
#include "shell/commands/subject.h"
#include "shell/commands/training/data_types.h"
#include "shell/commands/training/trainer_options.h"
#include "shell/commands/training/training.h"
#include "shell/commands/transform/loss_option.h"
#include "shell/progress.h"
#include "shell/script/script.h"
#include "stdlib/catalog.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "support/value_text.h"
#include "transform/epoch_writer.h"
#include "transform/model_forms.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"
#include "transform/setup_trainer.h"

namespace relish::commands_train {
namespace {

constexpr Option options[] = {
    {"data", OptionKind::Value, "",
     "(inputs…, targets), or a dict by names of parameters: tensors, paths, or lists of these whose rows "
     "follow each other; in the shell FILE[:ENTRY],FILE[:ENTRY]",
     0, everywhere, true},
    {"loss", OptionKind::Spec, "",
     "NAME(option=value, …) of the standard library, or a function of yours; left out when the first result "
     "of the model is its loss"},
    {"optimizer", OptionKind::Spec, "", optimizer_doc, 0, everywhere, true},
    {"lr", OptionKind::Real, "", lr_doc},
    {"clip_norm", OptionKind::Real, "", clip_norm_doc},
    {"clip_value", OptionKind::Real, "", clip_value_doc},
    {"groups", OptionKind::Spec, "", groups_doc},
    {"precision", OptionKind::Text, "float32", precision_doc},
    {"prepare", OptionKind::Spec, "", prepare_doc},
    {"cast", OptionKind::Flag, "", cast_doc},
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
    {"validation", OptionKind::Value, "",
     "data that are looked at after every epoch, as `data`; or the share of its rows that is kept for it, such "
     "as 0.1"},
    {"metrics", OptionKind::Names, "", metrics_doc},
    {"wrt", OptionKind::Names, "parameters marked by relish.params or num_input; else all but the first",
     "the trained parameters"},
    {"params", OptionKind::Tensors, "",
     "start values by name, and values of parameters that are not trained"},
    {"init_missing", OptionKind::Flag, "", "draw start values of weights that params does not have"},
    {"ignore_extra", OptionKind::Flag, "", "leave out values in params that the model does not have"},
    {"frozen", OptionKind::Names, "", frozen_doc},
    {"average", OptionKind::Real, "", average_doc},
    {"prefix", OptionKind::Text, "", prefix_doc},
    {"early_stopping", OptionKind::Spec, "",
     "METRIC(patience=5, min_delta=0): the job ends when this metric of the validation data has not become "
     "better for so many epochs"},
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

double learning_rate_for(const OptimizerOptions& options) {
  // An unknown optimizer is refused by setup_trainer, with the nearest name.
  if (!options.update && !find_optimizer(options.spec.name)) return 0;
  if (const std::optional<double> rate = learning_rate_of(options)) return *rate;
  if (options.update) {
    fail(ErrorClass::Usage, {}, "optimizer.lr",
         fmt::format("optimizer {}: the learning rate is missing; write lr=0.1 beside it",
                     options.update->name));
  }
  fail(ErrorClass::Usage, {}, "optimizer.lr",
       fmt::format("optimizer {0}: the option lr is missing; write {0}(lr=0.1)", options.spec.name));
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

// Adds initial_params for the parameters that have no value.
Module with_start_values(const Module& module, const ParameterHolder& holder, const InitialRules& rules,
                         const std::vector<std::string>& names, const TensorsByName& values,
                         const std::string& prefix, TrainingProgram& program) {
  const Function& model = *holder.function;
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
  program.initial_params = prefix + "initial_params";
  Module result = module;
  result.set(
      add_initialiser(*holder.module, rules, model, names, drawn, prefix).function(program.initial_params));
  return result;
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
  items.emplace_back("run_dir", result.run_folder.empty() ? ScriptValue() : ScriptValue(result.run_folder));
  return ScriptValue::dict(std::move(items));
}

void note_without_effect(const std::string& text) { write_error_text(fmt::format("note: {}\n", text)); }

// Steps that the lengths in the brackets of a schedule add up to.
std::optional<TrainOptions::ScheduleLength> length_of_schedule(const Invocation& invocation,
                                                               const NamedSpec& schedule) {
  const auto value = [&](const char* option) {
    const Attribute* given = find_attribute(schedule.options, option);
    const std::int64_t* steps = given ? given->as<std::int64_t>() : nullptr;
    return steps ? *steps : std::int64_t{0};
  };
  std::int64_t steps = 0;
  for (const char* option : {"T_max", "total_iters", "step_size"}) steps = std::max(steps, value(option));
  const std::int64_t warmup = value("warmup");
  if (warmup > INT64_MAX - steps) return std::nullopt;
  steps += warmup;
  if (steps <= 0) return std::nullopt;
  return TrainOptions::ScheduleLength{printable(invocation.text("schedule")), steps};
}

// What a job is told, but for its data and start values.
TrainOptions job_options(const Invocation& invocation) {
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
  wanted.seed = static_cast<std::uint64_t>(
      invocation.integer("seed", static_cast<std::int64_t>(invocation.session.settings().seed)));
  wanted.parameters_place = invocation.span_of("params");
  wanted.batch_size_place = invocation.span_of("batch_size");
  wanted.log_every = job_interval(invocation, "log_every", wanted.log_every);
  wanted.checkpoint_every = job_interval(invocation, "checkpoint_every", wanted.checkpoint_every);
  wanted.early_stopping = early_stopping_option(invocation);
  wanted.skip_not_finite = skips_not_finite(invocation);
  return wanted;
}

// The share of rows that `validation` asks for; none when it gives data.
std::optional<double> validation_share(const Invocation& invocation) {
  const ScriptValue* value = invocation.find("validation");
  if (!value) return std::nullopt;
  std::optional<double> share;
  if (const double* real = value->as<double>()) share = *real;
  if (invocation.surface == Surface::Shell && invocation.names("validation").size() == 1)
    share = real_number(invocation.names("validation").front());
  if (share && !(*share > 0 && *share < 1)) {
    invocation.refuse_value(
        "validation", fmt::format("found {}; expected data, or a share of rows between 0 and 1", *share));
  }
  return share;
}

// Which parameters of the step take data: those without a value.
DataParameters parameters_for_data(const TrainingProgram& program, const TensorsByName& values) {
  const FunctionPtr step = function_to_call(program.module, program.step);
  const RoleSignature roles = *roles_of(*step);
  DataParameters result;
  for (std::size_t i = 0; i < step->params.size(); ++i) {
    const std::string& name = step->params[i].name();
    if (values.contains(name)) continue;
    if (roles.params[i].role == Role::Input) result.inputs.push_back(name);
    if (roles.params[i].role == Role::Target) result.targets.push_back(name);
  }
  if (program.returns_loss && !result.inputs.empty()) {
    result.targets = {result.inputs.back()};
    result.inputs.pop_back();
  }
  return result;
}

// The steps as one function, for columns as they are.
void add_steps(Module& module, TrainingProgram& program, const DataSet& data,
               const DataParameters& parameters, bool faults_last, std::int64_t accumulate,
               const std::string& prefix) {
  EpochOptions epoch;
  epoch.name = "train_steps";
  epoch.prefix = prefix;
  epoch.each = true;
  epoch.faults_last = faults_last;
  epoch.accumulate = accumulate;
  epoch.columns = parameters.inputs;
  epoch.columns.insert(epoch.columns.end(), parameters.targets.begin(), parameters.targets.end());
  for (const Column& column : data.columns()) {
    std::vector<Scalar> dims(column.shape().begin(), column.shape().end());
    epoch.column_types.push_back(tensor_type(std::move(dims), column.dtype()));
  }
  // What does not fit is said, with its place, where the program is checked.
  if (epoch.columns.size() != epoch.column_types.size()) return;
  if (program.prepare.empty()) epoch.column_types.clear();
  for (const Preparation& prepare : program.prepare)
    epoch.prepare.push_back({prepare.function, prepare.taken, prepare.given, prepare.has_key});
  remove_made(module, prefix + epoch.name, epoch.name);
  write_epoch(module, epoch);
  program.steps = prefix + epoch.name;
}

// Whether rows that were prepared can be cut into the batches of a step by their types, and what each batch
// counts is known before they are prepared.
bool prepares_in_parts(const Module& module, const TrainingProgram& program, const DataSet& data) {
  const auto has_shape = [](const Type& type) { return type.tensor() && type.tensor()->has_shape(); };
  return std::all_of(program.prepare.begin(), program.prepare.end(), [&](const Preparation& prepare) {
    const Type& type = module.function(prepare.function)->result_type;
    if (prepare.given > data.inputs.size() && program.judgement.ignored_label && !program.loss_is_sum)
      return false;
    if (!type.tuple()) return has_shape(type);
    return std::all_of(type.tuple()->fields.begin(), type.tuple()->fields.end(), has_shape);
  });
}

// A job before it runs.
struct Prepared {
  TrainingProgram program;
  TrainOptions options;
  DataSet data;
};

Prepared prepare_job(const Invocation& invocation, const std::string& function) {
  Prepared job;
  TrainOptions& wanted = job.options;
  TrainingProgram& program = job.program;
  wanted = job_options(invocation);
  SetupTrainerOptions setup = trainer_options(invocation);
  setup.accumulate = wanted.accumulate > 1;
  setup.prefix = prefix_option(invocation);
  wanted.learning_rate = learning_rate_for(setup.optimizer);
  program.judgement = judgement_of(setup.loss);
  program.returns_loss = setup.model_returns_loss();
  const DataColumns columns = data_columns(invocation, "data", program.returns_loss ? 1 : 2);

  const Function& model = *relax_function(*invocation.module, function);
  setup.data = columns.names;
  if (program.returns_loss && !columns.named()) {
    const std::size_t count = std::min(model.params.size(), columns.columns.size());
    for (std::size_t i = 0; i < count; ++i) setup.data.push_back(model.params[i].name());
  }
  Module made = setup_trainer(*invocation.module, function, setup);
  const ModelParameters changed = parameters_of_trainer(*invocation.module, model, setup);
  std::vector<std::string> names = changed.trained, others;
  for (const auto* more : {&changed.buffers, &changed.frozen})
    names.insert(names.end(), more->begin(), more->end());
  const TrainerNames made_names = trainer_names(*invocation.module, model, setup);
  for (const Var& param : made.function(made_names.loss)->params)
    if (std::find(names.begin(), names.end(), param.name()) == names.end()) others.push_back(param.name());
  wanted.parameters = start_values(invocation, names, others);
  if (!changed.frozen.empty())
    wanted.function_options["frozen"] = fmt::format("{}", fmt::join(changed.frozen, ", "));
  if (setup.average) wanted.function_options["average"] = format_double(*setup.average);
  if (setup.gradient_norm) wanted.function_options["grad_norm"] = "True";
  made = with_start_values(made, holder_of_parameters(*invocation.module, model, setup),
                           init_option(invocation), names, wanted.parameters, setup.prefix, program);
  wanted.metrics = metrics_option(invocation, program.judgement, made);
  program.prepare = prepare_option(invocation, made, columns.columns.size());
  program.scales_loss = setup.half == DType::Float16;
  program.step = setup.prefix + program.step;
  program.optimizer_init = setup.prefix + program.optimizer_init;
  program.inference = made_names.inference;
  program.loss = made_names.inference_loss;
  program.adjoint = made_names.adjoint;
  if (setup.accumulate) {
    program.add_gradients = setup.prefix + "add_gradients";
    program.apply_gradients = setup.prefix + "apply_gradients";
  }
  program.loss_is_sum = is_summed(setup.loss);
  if (!setup.schedule.name.empty()) program.learning_rate = setup.prefix + "learning_rate";
  if (invocation.given("init") && program.initial_params.empty())
    note_without_effect("init draws nothing: params has a value of each parameter");
  if (invocation.given("prepare") && program.prepare.empty())
    note_without_effect("prepare is empty: the model gets the data as they are");
  if (invocation.given("groups") && setup.optimizer.groups.empty())
    note_without_effect("groups is empty: all parameters have the options of the optimizer");
  wanted.schedule = length_of_schedule(invocation, setup.schedule);
  program.module = std::make_shared<const Module>(made);

  const DataParameters parameters = parameters_for_data(program, wanted.parameters);
  const FunctionPtr step = function_to_call(program.module, program.step);
  job.data = data_set(invocation, "data", columns, parameters);
  check_data_set(job.data);
  fit_dtypes(invocation, job.data, program, *step, parameters);
  if (const std::optional<double> share = validation_share(invocation)) {
    wanted.validation = split_validation(job.data, *share, wanted.seed, invocation.span_of("validation"));
  } else if (invocation.given("validation")) {
    const DataColumns judged = data_columns(invocation, "validation", program.returns_loss ? 1 : 2);
    wanted.validation = data_set(invocation, "validation", judged, parameters);
    fit_dtypes(invocation, *wanted.validation, program, *step, parameters);
  }
  if (!setup.accumulate || prepares_in_parts(made, program, job.data)) {
    const bool faults_last = !setup.optimizer.update && has_running_means_alone(*invocation.module, model);
    add_steps(made, program, job.data, parameters, faults_last, wanted.accumulate, setup.prefix);
    program.module = std::make_shared<const Module>(std::move(made));
  }
  return job;
}

// What was done, and which weights stand where.
std::string ending_of(const TrainResult& result) {
  std::string text;
  if (result.steps_before == result.steps) {
    text = fmt::format("all {} were done; nothing was trained", counted(result.steps, "step"));
  } else {
    const double rate = result.seconds > 0 ? static_cast<double>(result.steps) / result.seconds : 0;
    text = fmt::format("trained {} in {:.1f} s ({:.0f} steps/s)", counted(result.steps, "step"),
                       result.seconds, rate);
  }
  if (result.run_folder.empty()) return text + "\n";
  text += fmt::format(", saved in {}", result.run_folder);
  if (result.best_step && !result.interrupt)
    text += fmt::format(": final.safetensors has the last weights, best.safetensors those of step {}",
                        *result.best_step);
  return text + "\n";
}

ScriptValue run(Invocation& invocation) {
  Session& session = invocation.session;
  if (invocation.surface == Surface::Shell) start_time_limit(invocation);
  const std::string function = function_of(invocation);
  const Prepared job = prepare_job(invocation, function);
  const TrainOptions& wanted = job.options;

  RunRequest request;
  describe_origin(invocation, request);
  const bool unsaved = wants_no_folder(invocation);
  if (!unsaved) place_job(invocation, request);
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
  if (session.settings().jobs && session.settings().first_job.empty())
    session.settings().first_job = result.run_folder;
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

// From options to functions and data. What they are not fit for is refused here, with its place, before a job
// has a folder.
#include "shell/commands/training/prepared_job.h"

#include <algorithm>

#include "runtime/format.h"
#include "shell/commands/training/data_parameters.h"
#include "shell/commands/training/data_types.h"
#include "shell/commands/training/step_budget.h"
#include "shell/commands/training/trainer_options.h"
#include "shell/commands/training/training.h"
#include "shell/commands/transform/loss_option.h"
#include "shell/script/script.h"
#include "stdlib/catalog.h"
#include "support/render.h"
#include "support/value_text.h"
#include "transform/epoch_writer.h"
#include "transform/model_forms.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"
#include "transform/setup_trainer.h"

namespace relish {
namespace {

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

std::int64_t at_least_one(const Invocation& invocation, std::string_view option, std::int64_t value) {
  if (value < 1) invocation.refuse_value(option, fmt::format("found {}; expected at least 1", value));
  return value;
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

// The loss is told by every step.
std::vector<StepMetric> metrics_of_steps(const std::vector<Metric>& metrics, const Judgement& judgement) {
  check_metric_names(metrics);
  std::vector<StepMetric> result;
  for (const Metric& metric : metrics) {
    if (metric.is_loss()) continue;
    result.push_back({metric.name, metric.k, metric.function, judgement.threshold, judgement.ignored_label});
  }
  return result;
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

// Whether each epoch takes the rows in an order of its own; a word of the command line says so by its text.
bool shuffles(const Invocation& invocation) {
  const ScriptValue* value = invocation.find("shuffle");
  if (!value) return true;
  if (const bool* flag = value->as<bool>()) return *flag;
  const std::string* text = value->string();
  if (text && (*text == "True" || *text == "true")) return true;
  if (text && (*text == "False" || *text == "false")) return false;
  invocation.misuse("shuffle", fmt::format("found {}; expected True or False", brief_text(*value)));
}

// What a job is told, but for its data and start values.
TrainOptions job_options(const Invocation& invocation) {
  if (invocation.given("steps") && invocation.given("epochs")) {
    fail(ErrorClass::Usage, invocation.span, "train.length",
         "epochs and steps contradict each other; give one of them");
  }
  TrainOptions wanted;
  wanted.epochs = at_least_one(invocation, "epochs", invocation.integer("epochs", 1));
  if (invocation.given("steps"))
    wanted.steps = at_least_one(invocation, "steps", invocation.integer("steps", 1));
  if (invocation.given("batch_size"))
    wanted.batch_size = at_least_one(invocation, "batch_size", invocation.integer("batch_size", 1));
  wanted.accumulate = at_least_one(invocation, "accumulate", invocation.integer("accumulate", 1));
  wanted.seed = static_cast<std::uint64_t>(
      invocation.integer("seed", static_cast<std::int64_t>(invocation.session.settings().seed)));
  wanted.shuffle = shuffles(invocation);
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
DataParameters parameters_with_data(const TrainingProgram& program, const TensorsByName& values) {
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

}  // namespace

PreparedJob prepare_job(const Invocation& invocation, const std::string& function) {
  PreparedJob job;
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

  Module source = *invocation.module;
  wanted.metrics = metrics_option(invocation, program.judgement, source);
  setup.metrics = metrics_of_steps(wanted.metrics, program.judgement);
  const Function& model = *relax_function(source, function);
  setup.data = columns.names;
  std::optional<TensorsByName> given;  // once: a file of weights may be large
  if (program.returns_loss && !columns.named()) {
    const std::size_t count = std::min(model.params.size(), columns.columns.size());
    for (std::size_t i = 0; i < count; ++i) setup.data.push_back(model.params[i].name());
  } else if (columns.named()) {
    check_data_names(invocation, columns, model, setup);
  } else if (columns.columns.size() > 2) {
    given = parameter_values(invocation);
    setup.data = inputs_by_count(*invocation.module, model, setup, columns, *given);
  }
  Module made = setup_trainer(source, function, setup);
  const ModelParameters changed = parameters_of_trainer(source, model, setup);
  std::vector<std::string> names = changed.trained, others;
  for (const auto* more : {&changed.buffers, &changed.frozen})
    names.insert(names.end(), more->begin(), more->end());
  const TrainerNames made_names = trainer_names(source, model, setup);
  for (const Var& param : made.function(made_names.loss)->params)
    if (std::find(names.begin(), names.end(), param.name()) == names.end()) others.push_back(param.name());
  wanted.parameters = start_values(invocation, names, others, std::move(given));
  if (!changed.frozen.empty())
    wanted.function_options["frozen"] = fmt::format("{}", fmt::join(changed.frozen, ", "));
  if (setup.average) wanted.function_options["average"] = format_double(*setup.average);
  if (setup.gradient_norm) wanted.function_options["grad_norm"] = "True";
  made = with_start_values(made, holder_of_parameters(source, model, setup), init_option(invocation), names,
                           wanted.parameters, setup.prefix, program);
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

  const DataParameters parameters = parameters_with_data(program, wanted.parameters);
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
  if (invocation.given("memory_budget")) {
    hold_budget(invocation, source, function, setup, sizes_of_batches(program, wanted, job.data, parameters),
                made);
    program.module = std::make_shared<const Module>(made);
  }
  if (!setup.accumulate || prepares_in_parts(made, program, job.data)) {
    const bool faults_last = !setup.optimizer.update && has_running_means_alone(source, model);
    add_steps(made, program, job.data, parameters, faults_last, wanted.accumulate, setup.prefix);
    program.module = std::make_shared<const Module>(std::move(made));
  }
  return job;
}

}  // namespace relish

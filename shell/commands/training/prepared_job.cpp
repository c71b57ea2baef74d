// From options to functions and data. What they are not fit for is refused here, with its place, before a job
// has a folder.
#include "shell/commands/training/prepared_job.h"

#include <algorithm>
#include <map>

#include "ir/calls/own_keys.h"
#include "runtime/format.h"
#include "shell/commands/training/data_parameters.h"
#include "shell/commands/training/data_types.h"
#include "shell/commands/training/job_settings.h"
#include "shell/commands/training/step_budget.h"
#include "shell/commands/training/trainer_options.h"
#include "shell/commands/training/training.h"
#include "shell/commands/transform/loss_option.h"
#include "shell/option_text.h"
#include "support/glob.h"
#include "support/render.h"
#include "transform/bind_symbols.h"
#include "transform/epoch_writer.h"
#include "transform/model_forms.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"
#include "transform/setup_trainer.h"

namespace relish {
namespace {

// Adds initial_params for the parameters that have no value.
Module with_start_values(const Module& module, const ParameterHolder& holder, const InitialRules& rules,
                         const std::vector<std::string>& names, const TensorsByName& values,
                         const std::string& prefix, TrainingProgram& program, Surface surface) {
  const Function& model = *holder.function;
  std::vector<bool> drawn;
  for (const std::string& name : names) drawn.push_back(!values.contains(name));
  if (std::find(drawn.begin(), drawn.end(), true) == drawn.end()) return module;
  for (const Var& param : model.params) {
    const auto found = std::find(names.begin(), names.end(), param.name());
    const bool drawn_here = found != names.end() && drawn[static_cast<std::size_t>(found - names.begin())];
    const TensorType* type = drawn_here ? param.type().tensor() : nullptr;
    if (!type || !type->shape) continue;
    const auto open = std::find_if(type->shape->begin(), type->shape->end(),
                                   [](const Scalar& dim) { return !dim.as_int().has_value(); });
    if (open != type->shape->end()) {
      const std::optional<ScalarVar> symbol = open->as_var();
      const auto size = [&] {
        return surface == Surface::Shell ? fmt::format("{} {}=8", option_text(surface, "dim"), symbol->name())
                                         : fmt::format("dim={{\"{}\": 8}}", symbol->name());
      };
      fail(ErrorClass::Usage, {}, "train.params",
           fmt::format("parameter '{}' has no fixed shape; expected its start value in {}{}", param.name(),
                       option_text(surface, "params"),
                       symbol ? fmt::format(", or the size of its dimension, {}", size()) : ""));
    }
  }
  program.initial_params = prefix + "initial_params";
  Module result = module;
  result.set(
      add_initialiser(*holder.module, rules, model, names, drawn, prefix).function(program.initial_params));
  return result;
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

// Of patterns the first that matches a name holds: one that comes too late for all of its names is noted.
template <class Rules, class PatternOf>
void note_late_patterns(const std::string& option, const Rules& rules, const std::vector<std::string>& names,
                        const PatternOf& pattern_of) {
  for (auto rule = rules.begin(); rule != rules.end(); ++rule) {
    std::string before;
    const bool late = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      if (!matches_glob(pattern_of(*rule), name)) return true;
      const auto first = std::find_if(rules.begin(), rule,
                                      [&](const auto& each) { return matches_glob(pattern_of(each), name); });
      if (first == rule) return false;
      before = pattern_of(*first);
      return true;
    });
    if (late && !before.empty())
      note_without_effect(
          fmt::format("{}: '{}' has no effect behind '{}', which holds where both match; what is "
                      "meant for fewer names comes first",
                      option, printable(pattern_of(*rule)), printable(before)));
  }
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

bool has_open_shape(const Function& model, const std::vector<std::string>& names,
                    const TensorsByName& values) {
  return std::any_of(model.params.begin(), model.params.end(), [&](const Var& param) {
    const TensorType* type = param.type().tensor();
    const bool drawn =
        std::find(names.begin(), names.end(), param.name()) != names.end() && !values.contains(param.name());
    return drawn && type && type->shape &&
           std::any_of(type->shape->begin(), type->shape->end(),
                       [](const Scalar& dim) { return !dim.as_int().has_value(); });
  });
}

// Sizes of parameters to draw that the data tell: behind the rows, a dimension of a column is the same in
// every batch. What goes through `prepare` has other sizes.
std::map<std::string, std::int64_t> sizes_in_data(const Function& model,
                                                  const std::vector<std::string>& names,
                                                  const TensorsByName& values, const Function& step,
                                                  const DataParameters& parameters, const DataSet& data) {
  std::map<std::string, std::int64_t> known, result;
  std::vector<std::string> taking = parameters.inputs;
  taking.insert(taking.end(), parameters.targets.begin(), parameters.targets.end());
  const auto columns = data.columns();
  for (std::size_t i = 0; i < std::min(taking.size(), columns.size()); ++i) {
    const auto param = std::find_if(step.params.begin(), step.params.end(),
                                    [&](const Var& each) { return each.name() == taking[i]; });
    const TensorType* type = param == step.params.end() ? nullptr : param->type().tensor();
    const auto& shape = columns[i].shape();
    if (!type || !type->shape || type->shape->size() != shape.size()) continue;
    for (std::size_t d = 1; d < shape.size(); ++d)
      if (const auto symbol = (*type->shape)[d].as_var()) known.emplace(symbol->name(), shape[d]);
  }
  for (const Var& param : model.params) {
    const bool drawn =
        std::find(names.begin(), names.end(), param.name()) != names.end() && !values.contains(param.name());
    const TensorType* type = drawn ? param.type().tensor() : nullptr;
    if (!type || !type->shape) continue;
    for (const Scalar& dim : *type->shape)
      for (const auto& [name, size] : known)
        if (const auto symbol = dim.as_var(); symbol && symbol->name() == name) result.emplace(name, size);
  }
  return result;
}

// The same, where a parameter to draw has an open size and the data go into the step as they are.
std::map<std::string, std::int64_t> sizes_told(const Invocation& invocation, const DataColumns& columns,
                                               const Function& model, const std::vector<std::string>& names,
                                               const TensorsByName& values, const Module& made,
                                               const std::string& step, TrainingProgram program) {
  if (invocation.given("prepare") || !has_open_shape(model, names, values)) return {};
  program.module = std::make_shared<const Module>(made);
  program.step = step;
  const DataParameters taking = parameters_with_data(program, values);
  return sizes_in_data(model, names, values, *function_to_call(program.module, step), taking,
                       data_set(invocation, "data", columns, taking));
}

// What of the trainer decides the job, as text.
std::map<std::string, std::string> options_of_trainer(const SetupTrainerOptions& setup,
                                                      const std::vector<std::string>& frozen) {
  std::map<std::string, std::string> told;
  if (!frozen.empty()) told["frozen"] = fmt::format("{}", fmt::join(frozen, ", "));
  if (setup.average) told["average"] = format_double(*setup.average);
  if (setup.gradient_norm) told["grad_norm"] = "True";
  return told;
}

// `trained`: the parameters that steps change; `all`: those that have values.
void note_what_has_no_effect(const Invocation& invocation, const TrainingProgram& program,
                             const OptimizerOptions& optimizer, const std::vector<std::string>& trained,
                             const std::vector<std::string>& all) {
  if (invocation.given("init") && program.initial_params.empty())
    note_without_effect("init draws nothing: params has a value of each parameter");
  if (invocation.given("prepare") && program.prepare.empty())
    note_without_effect("prepare is empty: the model gets the data as they are");
  if (invocation.given("groups") && optimizer.groups.empty())
    note_without_effect("groups is empty: all parameters have the options of the optimizer");
  note_late_patterns("groups", optimizer.groups, trained,
                     [](const ParameterGroup& group) { return group.pattern; });
  note_late_patterns("init", init_option(invocation).patterns, all,
                     [](const auto& rule) { return rule.first; });
}

// What is read for a job; it stays where the job is prepared anew with the sizes that the data tell.
struct ReadForJob {
  std::optional<DataColumns> columns;
  std::optional<TensorsByName> values;
};

PreparedJob prepared(const Invocation& invocation, const std::string& function, ReadForJob& read) {
  PreparedJob job;
  TrainOptions& wanted = job.options;
  TrainingProgram& program = job.program;
  wanted = job_settings(invocation);
  SetupTrainerOptions setup = trainer_options(invocation);
  setup.accumulate = wanted.accumulate > 1;
  setup.prefix = prefix_option(invocation);
  wanted.learning_rate = learning_rate_for(setup.optimizer);
  program.judgement = judgement_of(setup.loss);
  program.returns_loss = setup.model_returns_loss();
  program.seed = wanted.seed;
  if (!read.columns) read.columns = data_columns(invocation, "data", program.returns_loss ? 1 : 2);
  const DataColumns& columns = *read.columns;

  Module source = *invocation.module;
  wanted.metrics = metrics_option(invocation, program.judgement, source);
  setup.metrics = metrics_of_steps(wanted.metrics, program.judgement);
  const Function& model = *relax_function(source, function);
  setup.data = columns.names;
  const auto values_in_params = [&]() -> const TensorsByName& {
    if (!read.values) read.values = parameter_values(invocation);
    return *read.values;
  };
  if (program.returns_loss && !columns.named()) {
    for (const Var& param : model.params)
      if (setup.data.size() < columns.columns.size() && !is_random_key(param.type()))
        setup.data.push_back(param.name());
  } else if (columns.named()) {
    check_data_names(invocation, columns, model, setup);
  } else if (columns.columns.size() > 2) {
    setup.data = inputs_by_count(*invocation.module, model, setup, columns, values_in_params());
  }
  Module made = setup_trainer(source, function, setup);
  const ModelParameters changed = parameters_of_trainer(source, model, setup);
  std::vector<std::string> names = changed.trained, others;
  for (const auto* more : {&changed.buffers, &changed.frozen})
    names.insert(names.end(), more->begin(), more->end());
  const TrainerNames made_names = trainer_names(source, model, setup);
  for (const Var& param : made.function(made_names.loss)->params)
    if (std::find(names.begin(), names.end(), param.name()) == names.end()) others.push_back(param.name());
  TensorsByName given = values_in_params();
  refuse_given_keys(invocation, model, setup, changed.buffers, given);
  wanted.parameters = start_values(invocation, names, others, std::move(given));
  wanted.function_options.merge(options_of_trainer(setup, changed.frozen));
  if (const auto sizes = sizes_told(invocation, columns, model, names, wanted.parameters, made,
                                    setup.prefix + program.step, program);
      !sizes.empty()) {
    Invocation bound = invocation;
    bound.module = std::make_shared<const Module>(bind_symbols(*invocation.module, function, sizes));
    return prepared(bound, function, read);
  }
  made = with_start_values(made, holder_of_parameters(source, model, setup), init_option(invocation), names,
                           wanted.parameters, setup.prefix, program, invocation.surface);
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
  note_what_has_no_effect(invocation, program, setup.optimizer, changed.trained, names);
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

}  // namespace

PreparedJob prepare_job(const Invocation& invocation, const std::string& function) {
  ReadForJob read;
  return prepared(invocation, function, read);
}

}  // namespace relish

// Calls of the training functions. Everything that decides numbers happens here in one thread and in a fixed
// order; the only parallel work is inside the evaluator, whose results do not depend on the number of
// threads.
#include "train/steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/calls/entry.h"
#include "runtime/format.h"
#include "support/choices.h"
#include "support/counted.h"
#include "train/evaluate.h"
#include "train/fingerprint.h"
#include "train/finite.h"
#include "train/judged_rows.h"
#include "train/labels.h"
#include "train/preparation.h"

namespace relish {
namespace {

[[noreturn]] void misuse(std::string_view id, std::string message) {
  fail(ErrorClass::Usage, {}, id, std::move(message));
}

std::int64_t choose_batch_size(const TrainOptions& options, const ColumnBinding& binding, const DataSet& data,
                               const std::string& function) {
  const std::optional<std::int64_t> fixed = binding.fixed_rows();
  const std::int64_t rows = data.rows();
  if (options.batch_size && *options.batch_size <= 0) {
    misuse("train.batch_size",
           fmt::format("found batch_size {}; expected a positive number", *options.batch_size));
  }
  if (fixed && options.batch_size && *options.batch_size != *fixed) {
    fail(ErrorClass::Usage, options.batch_size_place, "train.batch_size",
         fmt::format("found batch_size {}; {} takes batches of {}", *options.batch_size, function,
                     counted(*fixed, "row")),
         {binding.note_of_fixed_rows()});
  }
  if (fixed && rows < *fixed) {
    fail(ErrorClass::Data, data.place, "data.rows",
         fmt::format("data: found {}; {} takes batches of {}", counted(rows, "row"), function,
                     counted(*fixed, "row")),
         {binding.note_of_fixed_rows()});
  }
  return fixed ? *fixed : options.batch_size.value_or(std::min(default_batch_size, rows));
}

void check_options(const TrainOptions& options) {
  if (options.epochs <= 0 && !options.steps) {
    misuse("train.epochs", fmt::format("found epochs {}; expected a positive number", options.epochs));
  }
  if (options.steps && *options.steps <= 0) {
    misuse("train.steps", fmt::format("found steps {}; expected a positive number", *options.steps));
  }
  if (!std::isfinite(options.learning_rate)) {
    misuse("train.lr",
           fmt::format("found learning rate {}; expected a finite number", options.learning_rate));
  }
  if (options.log_every.steps < 0 || options.log_every.seconds < 0) {
    misuse("train.log_every", fmt::format("found log_every {}; expected a positive number, or 0 for no lines",
                                          options.log_every.steps));
  }
  if (options.checkpoint_every.steps <= 0 && options.checkpoint_every.seconds <= 0) {
    misuse("train.checkpoint_every", fmt::format("found checkpoint_every {}; expected a positive number",
                                                 options.checkpoint_every.steps));
  }
  check_metric_names(options.metrics);
  if (options.early_stopping && !options.validation) {
    misuse("train.early_stopping",
           "early_stopping looks at the validation data, and there are none; give them by validation");
  }
}

// Rows of a step.
std::int64_t window_of(std::int64_t batch_size, const TrainOptions& options) {
  if (options.accumulate > INT64_MAX / batch_size) {
    misuse("train.batch_size", fmt::format("found {} batches of {} rows for a step; expected less",
                                           options.accumulate, batch_size));
  }
  return batch_size * options.accumulate;
}

const DataSet& checked(const DataSet& data) {
  check_data_set(data);
  return data;
}
const DataSet& checked(DataSet&& data) = delete;  // it would be gone

// The values of parameters that no step changes.
TensorsByName fixed_of(const TensorsByName& values, const StepFunction& step) {
  TensorsByName result = values;
  for (const auto* names : {&step.trained(), &step.buffers()})
    for (const std::string& name : *names) result.erase(name);
  return result;
}

// The given values, and those that initial_params draws.
TensorsByName start_values_of(Evaluator& evaluator, const TrainingProgram& program,
                              const TrainOptions& options) {
  TensorsByName values = options.parameters;
  if (program.initial_params.empty()) return values;
  const FunctionPtr function = function_to_call(program.module, program.initial_params);
  const std::optional<RoleSignature> roles = roles_of(*function);
  RELISH_CHECK(roles && roles->kind == "initial_params");
  const std::vector<std::string> names = roles->names(Role::Parameters);
  const Value drawn =
      evaluator.call(program.module, program.initial_params, {tensor_of_key(parameters_key(options.seed))});
  RELISH_CHECK(drawn.is_tuple() && drawn.fields().size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) values.emplace(names[i], drawn.fields()[i].tensor());
  return values;
}

bool all_zero(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    if (tensor.get_double(i) != 0) return false;
  return true;
}

constexpr std::string_view state_is_kept = "; the state before this step is kept";

// Undefined for a step without a key.
Tensor key_of(const StepFunction& function, std::uint64_t seed, std::int64_t step) {
  return function.has_key() ? tensor_of_key(step_key(seed, step)) : Tensor();
}

// What of the results is not finite, but for the loss.
std::optional<std::string> fault_of(const StepFunction& step, const StepFunction::Results& results) {
  std::optional<std::string> fault =
      not_finite_among("the update of parameter", step.trained(), results.parameters);
  if (!fault) fault = not_finite_among("the running statistic", step.buffers(), results.buffers);
  if (const auto path = path_of_not_finite(results.optimizer_states); path && !fault)
    fault = path->empty() ? "the optimizer state" : fmt::format("optimizer state {}", *path);
  return fault;
}

void tell_loss(TrainingSteps::Done& done, const TrainingProgram& program, const std::vector<Tensor>& batch) {
  const Tensor& loss = done.results.loss;
  done.loss = shortest_double(loss);
  done.loss_sum = loss.get_double(0) * program.loss_weight(batch.back().shape().front());
}

// Keeps the keys of parameters apart from those of epochs and steps, which are folded from the seed itself:
// "param".
constexpr std::uint64_t parameter_domain = 0x706172616D;

}  // namespace

RandomKey parameters_key(std::uint64_t seed) { return fold_in(key_from_seed(seed), parameter_domain); }

RandomKey step_key(std::uint64_t seed, std::int64_t step) {
  return fold_in(key_from_seed(seed), static_cast<std::uint64_t>(step));
}

TrainingSteps::TrainingSteps(Evaluator& evaluator, TrainingProgram program, DataSet data,
                             TrainOptions options)
    : evaluator_(evaluator),
      program_(std::move(program)),
      data_(std::move(data)),
      columns_(checked(data_).columns()),
      options_(std::move(options)),
      step_(program_.module, program_.step, program_.scales_loss),
      start_values_(start_values_of(evaluator_, program_, options_)),
      fixed_parameters_(fixed_of(start_values_, step_)),
      step_binding_(program_.module, program_.step, fixed_parameters_, data_, columns_.size()),
      batch_size_(choose_batch_size(options_, step_binding_, data_, program_.step)),
      order_(data_.rows(), {window_of(batch_size_, options_), options_.seed, options_.shuffle,
                            step_binding_.fixed_rows().has_value()}) {
  program_.judged_rows = judged_rows(program_, data_, batch_size_);
  check_options(options_);
  if (options_.validation) {
    options_.validation->name = "validation";
    check_data_set(*options_.validation);
  }
  if (order_.batches_per_epoch() == 0) {
    fail(ErrorClass::Data, data_.place, "data.rows",
         fmt::format("data: found {}; {} takes {} batches of {}", counted(data_.rows(), "row"), program_.step,
                     options_.accumulate, counted(batch_size_, "row")),
         {step_binding_.note_of_fixed_rows()});
  }
  if (options_.accumulate > 1) accumulation_.emplace(evaluator_, program_, step_, fixed_parameters_, data_);
  if (!data_.in_memory()) windows_.emplace(columns_, order_);
  if (!program_.steps.empty()) many_.emplace(program_, fixed_parameters_, data_, columns_.size());
}

// Without overflow: epochs may be given as a number that is never reached.
std::int64_t TrainingSteps::total_steps() const {
  const std::int64_t batches = order_.batches_per_epoch();
  if (options_.steps) return *options_.steps;
  return options_.epochs > INT64_MAX / batches ? INT64_MAX : options_.epochs * batches;
}

TrainingState TrainingSteps::initial_state() const {
  std::vector<std::string> known = step_.trained();
  known.insert(known.end(), step_.buffers().begin(), step_.buffers().end());
  const RoleSignature roles = *roles_of(*step_.function());
  for (std::size_t i = 0; i < roles.params.size(); ++i) {
    if (roles.params[i].role == Role::Input || roles.params[i].role == Role::Target)
      known.push_back(step_.function()->params[i].name());
  }
  for (const auto& [name, tensor] : options_.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      fail(ErrorClass::Usage, options_.parameters_place, "train.params",
           fmt::format("params: no parameter '{}'{}", name, among_choices(name, known)));
    }
  }

  // Whoever has the state alone may give its tensors up.
  const TensorsByName values = start_values_.empty() ? start_values_of(evaluator_, program_, options_)
                                                     : std::exchange(start_values_, {});
  TrainingState state;
  const auto take = [&](const std::vector<std::string>& names, std::vector<Tensor>& into) {
    for (const std::string& name : names) {
      const auto found = values.find(name);
      if (found == values.end())
        misuse("train.params",
               fmt::format("parameter '{}' has no start value; expected one in params", name));
      into.push_back(found->second);
    }
  };
  take(step_.trained(), state.parameters);
  take(step_.buffers(), state.buffers);
  if (step_.keeps_averages()) state.averages = state.parameters;
  check_values(state, {}, {});
  state.optimizer_states =
      evaluator_.call(program_.module, program_.optimizer_init, {tuple_of(state.parameters)});
  const std::vector<Tensor> batch = first_part(batch_of(0));
  bind_arguments(program_.step, step_.function()->params,
                 step_binding_.arguments(
                     batch, step_.values(state, learning_rate_of(0), key_of(step_, options_.seed, 0))));
  return state;
}

// What does not fit is reported before a run folder is made; the types of a batch are those of every batch.
void TrainingSteps::check_values(const TrainingState& state, const std::vector<Metric>& training_metrics,
                                 const std::vector<Metric>& validation_metrics) const {
  if (!program_.loss.empty()) {
    const ColumnBinding binding(program_.module, program_.loss, values_by_name(state), data_,
                                columns_.size());
    binding.check_fit(first_part(batch_of(0)), data_, options_.parameters_place);
  }
  EvaluateOptions later;
  later.batch_size = program_.judged_rows;
  later.parameters_place = options_.parameters_place;
  later.metrics = training_metrics;
  if (!training_metrics.empty())
    check_evaluation(evaluator_, program_, values_by_name(state), data_, later, true);
  if (!options_.validation || validation_metrics.empty()) return;
  later.metrics = validation_metrics;
  check_evaluation(evaluator_, program_, values_by_name(state), *options_.validation, later,
                   training_metrics.empty());
}

double TrainingSteps::learning_rate_of(std::int64_t step) const {
  if (program_.learning_rate.empty()) return options_.learning_rate;
  const Value rate = evaluator_.call(program_.module, program_.learning_rate,
                                     {Tensor::scalar(DType::Float64, options_.learning_rate),
                                      Tensor::scalar(DType::Int64, static_cast<double>(step)),
                                      Tensor::scalar(DType::Int64, static_cast<double>(total_steps()))});
  return shortest_double(rate.tensor());
}

std::vector<Tensor> TrainingSteps::batch_of(std::int64_t step) const {
  std::vector<Tensor> batch =
      windows_ ? windows_->take(step, 1) : gather_batch(columns_, rows_of_steps(order_, step, 1));
  return prepared(evaluator_, program_, std::move(batch), step_key(options_.seed, step));
}

std::vector<Tensor> TrainingSteps::first_part(const std::vector<Tensor>& batch) const {
  if (!accumulation_) return batch;
  std::vector<std::int64_t> rows(
      static_cast<std::size_t>(std::min(batch_size_, batch.back().shape().front())));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  std::vector<Tensor> part;
  for (const Tensor& column : batch) part.push_back(gather_rows(column, rows));
  return part;
}

StepFunction::Results TrainingSteps::results_of(TrainingState& state, double rate,
                                                const std::vector<Tensor>& batch, bool gives) const {
  if (accumulation_)
    return accumulation_->step(state, rate, batch, batch_size_, step_key(options_.seed, state.step), gives);
  const Tensor key = key_of(step_, options_.seed, state.step);
  std::vector<Value> args =
      step_binding_.arguments(batch, gives ? step_.give(state, rate, key) : step_.values(state, rate, key));
  return step_.results(
      gives ? call_with_state_given(evaluator_, program_, program_.step, step_.roles(), args, state)
            : evaluator_.call(program_.module, program_.step, std::move(args)));
}

std::int64_t TrainingSteps::steps_at_once(std::int64_t step, std::int64_t most) const {
  const std::int64_t step_rows = accumulation_ ? batch_size_ * options_.accumulate : 0;
  if (windows_) most = std::min(most, windows_->most_steps());
  return many_ ? ManySteps::at_once(order_, step, std::min(most, total_steps() - step), step_rows) : 0;
}

std::optional<ManySteps::Done> TrainingSteps::many(TrainingState& state,
                                                   std::span<const double> learning_rates, bool gives) const {
  return many_->run({evaluator_, program_, step_, order_, columns_, windows_, options_.seed,
                     options_.accumulate, data_.inputs.size()},
                    state, learning_rates, gives);
}

std::optional<TrainingSteps::Done> TrainingSteps::step_giving(TrainingState& state,
                                                              double learning_rate) const {
  const std::vector<Tensor> batch = batch_of(state.step);
  std::optional<Fingerprint> before;
  if (state.looks_for_zero) before = fingerprint_of(state);
  Done done;
  try {
    done.results = results_of(state, learning_rate, batch, true);
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Interrupted ||
        failure.error_class() == ErrorClass::ResourceLimit)
      throw;
    return std::nullopt;
  }
  if (first_not_finite(done.results.loss) || fault_of(step_, done.results)) return std::nullopt;
  done.no_change = before && nothing_moved(*before, done.results);
  tell_loss(done, program_, batch);
  return done;
}

TrainingSteps::Done TrainingSteps::step(const TrainingState& state, double learning_rate) const {
  const std::vector<Tensor> batch = batch_of(state.step);
  Done done;
  try {
    TrainingState handles = state;
    done.results = results_of(handles, learning_rate, batch, false);
  } catch (const Failure& failure) {
    refuse_wrong_label(evaluator_, program_, values_by_name(state), first_part(batch), data_, failure);
    throw;
  }
  const StepFunction::Results& after = done.results;
  // A loss scale leaves out steps whose gradients are too large; no scale mends a loss.
  if (first_not_finite(after.loss)) {
    report_not_finite(state, "train.finite",
                      fmt::format("the loss is {}", format_double(after.loss.get_double(0))), state_is_kept);
  }
  if (const auto fault = fault_of(step_, after))
    report_not_finite(state, "train.finite", fmt::format("{} is not finite", *fault), state_is_kept);
  done.no_change = state.looks_for_zero && nothing_moved(fingerprint_of(state), after);
  tell_loss(done, program_, batch);
  return done;
}

std::vector<Value> TrainingSteps::adjoint_arguments(const TrainingState& state,
                                                    const std::vector<Tensor>& batch) const {
  const ColumnBinding binding(program_.module, program_.adjoint, values_by_name(state), data_, batch.size());
  const RoleValue given[] = {{Role::Key, key_of(step_, options_.seed, state.step)},
                             {Role::LossScale, step_.loss_scale(state)}};
  return binding.arguments(batch, given);
}

bool TrainingSteps::gradients_are_zero(const TrainingState& state) const {
  if (program_.adjoint.empty()) return false;
  const std::vector<Tensor> batch = first_part(batch_of(state.step));
  const Value result = evaluator_.call(program_.module, program_.adjoint, adjoint_arguments(state, batch));
  RELISH_CHECK(result.is_tuple() && result.fields().size() == 2);
  const std::vector<Value>& gradients = result.fields()[1].fields();
  return std::all_of(gradients.begin(), gradients.end(),
                     [](const Value& gradient) { return all_zero(gradient.tensor()); });
}

Metrics TrainingSteps::metrics_over(const TrainingState& state, const DataSet& data,
                                    const std::vector<Metric>& metrics) const {
  EvaluateOptions options;
  options.metrics = metrics;
  options.checked = true;  // by check_values
  options.batch_size = program_.judged_rows;
  return evaluate(evaluator_, program_, values_by_name(state, Which::Judged), data, options);
}

TensorsByName TrainingSteps::values_by_name(const TrainingState& state, Which which) const {
  TensorsByName values = fixed_parameters_;
  const bool judged = which == Which::Judged && !state.averages.empty();
  const std::vector<Tensor>& trained = judged ? state.averages : state.parameters;
  for (std::size_t i = 0; i < trained.size(); ++i) values[step_.trained()[i]] = trained[i];
  for (std::size_t i = 0; i < state.buffers.size(); ++i) values[step_.buffers()[i]] = state.buffers[i];
  return values;
}

std::vector<std::string> TrainingSteps::data_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns_.size(); ++i) names.push_back(step_binding_.parameter_of(i));
  return names;
}

}  // namespace relish

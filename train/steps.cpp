// Calls of the training functions. Everything that decides numbers happens here in one thread and in a fixed
// order; the only parallel work is inside the evaluator, whose results do not depend on the number of
// threads.
#include "train/steps.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/calls/entry.h"
#include "runtime/format.h"
#include "support/counted.h"
#include "support/suggest.h"
#include "train/evaluate.h"
#include "train/finite.h"
#include "train/preparation.h"

namespace relish {
namespace {

constexpr std::int64_t default_batch_size = 32;

// The value with the shortest text that reads back as the tensor's own type, so that a float32 loss is
// written as 0.4123 and not with the digits of its conversion to double.
double shortest_double(const Tensor& scalar) {
  double value = scalar.get_double(0);
  if (scalar.dtype() == DType::Float64 || !std::isfinite(value)) return value;
  char text[64];
  auto written = std::to_chars(text, text + sizeof text, static_cast<float>(value));
  std::from_chars(text, written.ptr, value);
  return value;
}

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
  if (options.log_every.steps <= 0 && options.log_every.seconds <= 0) {
    misuse("train.log_every",
           fmt::format("found log_every {}; expected a positive number", options.log_every.steps));
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

// Whether an optimizer that keeps means of the gradients has them as before: tensors of rank 1 and more.
// (Those of rank 0 count steps.)
bool same_means(const Value& before, const Value& after, bool& any) {
  for (std::size_t i = 0; i < before.fields().size(); ++i) {
    const Value& old = before.fields()[i];
    if (old.is_tuple()) {
      if (!same_means(old, after.fields()[i], any)) return false;
    } else if (old.tensor().rank() != 0) {
      any = true;
      if (!identical(old.tensor(), after.fields()[i].tensor())) return false;
    }
  }
  return true;
}

// Keeps the keys of parameters apart from those of epochs and steps, which are folded from the seed itself:
// "param".
constexpr std::uint64_t parameter_domain = 0x706172616D;

std::optional<std::string> not_finite_among(std::string_view what, const std::vector<std::string>& names,
                                            const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (first_not_finite(tensors[i])) return fmt::format("{} '{}'", what, names[i]);
  return std::nullopt;
}

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
  if (!program_.steps.empty() && !accumulation_) {
    steps_binding_.emplace(program_.module, program_.steps, fixed_parameters_, data_, columns_.size());
    steps_roles_ = roles_of(*steps_binding_->function());
    RELISH_CHECK(steps_roles_ && steps_roles_->kind == "train_steps");
  }
  // Without overflow: epochs may be given as a number that is never reached.
  std::int64_t batches = order_.batches_per_epoch();
  total_steps_ = options_.steps
                     ? *options_.steps
                     : (options_.epochs > INT64_MAX / batches ? INT64_MAX : options_.epochs * batches);
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
           fmt::format("params: no parameter '{}'{}", name, did_you_mean(name, known)));
    }
  }

  TrainingState state;
  const auto take = [&](const std::vector<std::string>& names, std::vector<Tensor>& into) {
    for (const std::string& name : names) {
      const auto found = start_values_.find(name);
      if (found == start_values_.end())
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
  check_first_batch(state);
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
  later.parameters_place = options_.parameters_place;
  later.metrics = training_metrics;
  if (!training_metrics.empty())
    check_evaluation(evaluator_, program_, values_by_name(state), data_, later, true);
  if (!options_.validation || validation_metrics.empty()) return;
  later.metrics = validation_metrics;
  check_evaluation(evaluator_, program_, values_by_name(state), *options_.validation, later,
                   training_metrics.empty());
}

void TrainingSteps::check_first_batch(const TrainingState& state) const {
  const std::vector<Tensor> batch = first_part(batch_of(0));
  std::vector<Value> arguments =
      step_binding_.arguments(batch, step_.values(state, learning_rate_of(0), key_of(0)));
  bind_arguments(program_.step, step_.function()->params, arguments);
}

Tensor TrainingSteps::key_of(std::int64_t step) const {
  return step_.has_key() ? tensor_of_key(step_key(options_.seed, step)) : Tensor();
}

double TrainingSteps::learning_rate_of(std::int64_t step) const {
  if (program_.learning_rate.empty()) return options_.learning_rate;
  const Value rate = evaluator_.call(program_.module, program_.learning_rate,
                                     {Tensor::scalar(DType::Float64, options_.learning_rate),
                                      Tensor::scalar(DType::Int64, static_cast<double>(step)),
                                      Tensor::scalar(DType::Int64, static_cast<double>(total_steps_))});
  return rate.tensor().get_double(0);
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

std::int64_t TrainingSteps::samples_of(std::int64_t steps) const {
  const std::int64_t batches = order_.batches_per_epoch();
  return steps / batches * order_.rows_per_epoch() +
         std::min(steps % batches * window_size(), order_.rows_per_epoch());
}

StepFunction::Results TrainingSteps::results_of(const TrainingState& state, double rate,
                                                const std::vector<Tensor>& batch) const {
  if (accumulation_)
    return accumulation_->step(state, rate, batch, batch_size_, step_key(options_.seed, state.step));
  return step_.results(
      evaluator_.call(program_.module, program_.step,
                      step_binding_.arguments(batch, step_.values(state, rate, key_of(state.step)))));
}

TrainingSteps::Done TrainingSteps::step(const TrainingState& state, double learning_rate) const {
  const std::vector<Tensor> batch = batch_of(state.step);
  Done done;
  try {
    done.results = results_of(state, learning_rate, batch);
  } catch (const Failure& failure) {
    refuse_wrong_label(evaluator_, program_, values_by_name(state), first_part(batch), data_, failure);
    throw;
  }
  const StepFunction::Results& after = done.results;
  const bool left_out =
      step_.steps_left_out(after.optimizer_states) > step_.steps_left_out(state.optimizer_states);
  if (first_not_finite(after.loss) && !left_out) {
    report_not_finite(state, batch, fmt::format("the loss is {}", format_double(after.loss.get_double(0))));
  }
  std::optional<std::string> fault =
      not_finite_among("the update of parameter", step_.trained(), after.parameters);
  if (!fault) fault = not_finite_among("the running statistic", step_.buffers(), after.buffers);
  if (const auto path = path_of_not_finite(after.optimizer_states); path && !fault)
    fault = path->empty() ? "the optimizer state" : fmt::format("optimizer state {}", *path);
  if (fault) report_not_finite(state, batch, fmt::format("{} is not finite", *fault));
  done.no_change = nothing_moved(state, after);
  done.loss = shortest_double(after.loss);
  done.loss_sum = after.loss.get_double(0) * program_.loss_weight(batch.back().shape().front());
  return done;
}

bool TrainingSteps::nothing_moved(const TrainingState& before, const StepFunction::Results& after) const {
  bool moved = false;
  for (std::size_t i = 0; i < after.parameters.size() && !moved; ++i)
    moved = !identical(before.parameters[i], after.parameters[i]);
  if (!moved) return true;
  // Where decay moves the parameters, the means of the gradients tell.
  bool any = false;
  return same_means(before.optimizer_states, after.optimizer_states, any) && any;
}

std::int64_t TrainingSteps::steps_at_once(std::int64_t step, std::int64_t most) const {
  if (!steps_binding_) return 0;
  const std::int64_t batches = order_.batches_per_epoch(), place = step % batches;
  const bool short_end = order_.size_of_batch(batches - 1) != order_.size_of_batch(0);
  if (short_end && place == batches - 1) return 1;
  return std::min({most, batches - place - (short_end ? 1 : 0), total_steps_ - step});
}

// Data in memory are given whole, and the order says their rows; of others a window is read.
std::vector<Tensor> TrainingSteps::columns_of_steps(std::int64_t first, std::int64_t count,
                                                    Tensor& order) const {
  std::vector<std::int64_t> rows;
  const std::int64_t batch = order_.size_of_batch(first % order_.batches_per_epoch());
  if (windows_) {
    for (std::int64_t i = 0; i < count * batch; ++i) rows.push_back(i);
  } else {
    rows = rows_of_steps(order_, first, count);
  }
  order = Tensor::from<std::int64_t>({count, batch}, rows);
  if (windows_) return windows_->take(first, count);
  std::vector<Tensor> whole;
  for (const Column& column : columns_) whole.push_back(column.tensor());
  return whole;
}

std::optional<TrainingSteps::Many> TrainingSteps::many(const TrainingState& state,
                                                       std::span<const double> learning_rates) const {
  const auto count = static_cast<std::int64_t>(learning_rates.size());
  Tensor rates = Tensor::empty(step_.rate_dtype(), {count});
  for (std::int64_t i = 0; i < count; ++i) rates.set_double(i, learning_rates[static_cast<std::size_t>(i)]);
  Tensor order;
  const std::vector<Tensor> columns = columns_of_steps(state.step, count, order);
  std::vector<RoleValue> given = step_.values(state);
  given.push_back({Role::LearningRates, rates});
  given.push_back({Role::Order, order});
  if (steps_roles_->param(Role::Key)) {
    given.push_back({Role::Key, tensor_of_key(key_from_seed(options_.seed))});
    given.push_back({Role::Step, Tensor::scalar_int(DType::Int64, state.step)});
  }
  Value result;
  try {
    result = evaluator_.call(program_.module, program_.steps, steps_binding_->arguments(columns, given));
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Interrupted ||
        failure.error_class() == ErrorClass::ResourceLimit)
      throw;
    return std::nullopt;
  }
  const std::vector<Value>& fields = result.fields();
  if (first_not_finite(fields[steps_roles_->result(Role::Faults).value()].tensor())) return std::nullopt;
  Many done;
  done.results = step_.results(result, *steps_roles_);
  const Tensor& losses = fields[steps_roles_->result(Role::Losses).value()].tensor();
  const double weight = program_.loss_weight(order_.size_of_batch(state.step % order_.batches_per_epoch()));
  for (std::int64_t i = 0; i < count; ++i) {
    Tensor loss = Tensor::scalar(losses.dtype(), losses.get_double(i));
    done.losses.push_back(shortest_double(loss));
    done.loss_sums.push_back(losses.get_double(i) * weight);
  }
  done.no_change = state.looks_for_zero && nothing_moved(state, done.results);
  return done;
}

RoleValue TrainingSteps::key_value(std::int64_t step) const { return {Role::Key, key_of(step)}; }

std::vector<Value> TrainingSteps::adjoint_arguments(const TrainingState& state,
                                                    const std::vector<Tensor>& batch) const {
  const ColumnBinding binding(program_.module, program_.adjoint, values_by_name(state), data_, batch.size());
  const RoleValue given[] = {key_value(state.step), {Role::LossScale, step_.loss_scale(state)}};
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

// The data of the step, as they were before anything was made of them.
std::optional<std::string> TrainingSteps::not_finite_input(const TrainingState& state) const {
  const std::vector<std::int64_t> rows = rows_of_steps(order_, state.step, 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Tensor column = columns_[i].gather(rows);
    const std::optional<std::int64_t> place = first_not_finite(column);
    if (!place) continue;
    const std::int64_t row = *place / (column.size() / column.shape().front());
    return fmt::format("the first tensor that is not finite is the {} '{}', row {} of the data",
                       i < data_.inputs.size() ? "input" : "target", step_binding_.parameter_of(i),
                       rows[static_cast<std::size_t>(row)]);
  }
  return std::nullopt;
}

// The first tensor on the way: the data, then the parameters, then what is made of them.
void TrainingSteps::report_not_finite(const TrainingState& state, const std::vector<Tensor>& batch,
                                      const std::string& what) const {
  std::string first;
  Span place;
  if (const auto input = not_finite_input(state)) {
    first = *input;
  } else if (const auto parameter = not_finite_among("parameter", step_.trained(), state.parameters)) {
    first = fmt::format("the first tensor that is not finite is {}", *parameter);
  } else if (const auto origin = origin_of_not_finite(state, batch)) {
    first = fmt::format("the first tensor that is not finite is '{}' of {}", origin->name, origin->function);
    place = origin->place;
  }
  fail(ErrorClass::NumericStop, place, "train.finite",
       fmt::format("step {}: {}{}{}; the state before this step is kept", state.step + 1, what,
                   first.empty() ? "" : "; ", first));
}

// On the way to the loss and its gradients; of several parts of a batch the first is looked at.
std::optional<NotFiniteOrigin> TrainingSteps::origin_of_not_finite(const TrainingState& state,
                                                                   const std::vector<Tensor>& batch) const {
  if (program_.adjoint.empty()) return std::nullopt;
  try {
    return find_not_finite_origin(evaluator_, program_.module, program_.adjoint,
                                  adjoint_arguments(state, first_part(batch)));
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Interrupted) throw;
    return std::nullopt;
  }
}

std::vector<std::string> TrainingSteps::input_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < data_.inputs.size(); ++i) names.push_back(step_binding_.parameter_of(i));
  return names;
}

std::vector<std::string> TrainingSteps::target_names() const {
  std::vector<std::string> names;
  for (std::size_t i = data_.inputs.size(); i < columns_.size(); ++i)
    names.push_back(step_binding_.parameter_of(i));
  return names;
}

}  // namespace relish

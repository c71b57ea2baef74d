// Steps, epochs and their reports. Everything that decides numbers happens here in one thread and in a fixed
// order; the only parallel work is inside the evaluator, whose results do not depend on the number of
// threads.
#include "train/trainer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "ir/calls/entry.h"
#include "runtime/format.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/suggest.h"
#include "train/finite.h"

namespace relish {
namespace {

constexpr std::int64_t default_batch_size = 32;
constexpr std::size_t leading_parameters = 3;  // params, states, lr

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

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
  check_metric_names(options.metrics);
}

const DataSet& checked(const DataSet& data) {
  check_data_set(data);
  return data;
}
const DataSet& checked(DataSet&& data) = delete;  // it would be gone

// The values of parameters that are not trained.
TensorsByName without(const TensorsByName& values, const std::vector<std::string>& names) {
  TensorsByName result = values;
  for (const std::string& name : names) result.erase(name);
  return result;
}

bool all_zero(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    if (tensor.get_double(i) != 0) return false;
  return true;
}

// Whether an optimizer that keeps means of the gradients has them as before: tensors of rank 1 and more.
// (Those of rank 0 count steps.)
bool same_means(const Value& before, const Value& after) {
  bool any = false;
  for (std::size_t i = 0; i < before.fields().size(); ++i) {
    const Tensor& old = before.fields()[i].tensor();
    if (old.rank() == 0) continue;
    any = true;
    if (!identical(old, after.fields()[i].tensor())) return false;
  }
  return any;
}

// Keeps the keys of parameters apart from those of epochs and steps, which are folded from the seed itself:
// "param".
constexpr std::uint64_t parameter_domain = 0x706172616D;

// The result of train_step.
const std::vector<Value>& step_fields(const Value& result, std::size_t parameters) {
  RELISH_CHECK(result.is_tuple() && result.fields().size() == 3 && result.fields()[1].is_tuple() &&
               result.fields()[1].fields().size() == parameters);
  return result.fields();
}

}  // namespace

RandomKey parameters_key(std::uint64_t seed) { return fold_in(key_from_seed(seed), parameter_domain); }

Trainer::Trainer(Evaluator& evaluator, TrainingProgram program, DataSet data, TrainOptions options)
    : evaluator_(evaluator),
      program_(std::move(program)),
      data_(std::move(data)),
      columns_(checked(data_).columns()),
      options_(std::move(options)),
      step_binding_(program_.module, program_.step, leading_parameters,
                    without(options_.parameters, program_.parameters), data_, columns_.size()),
      batch_size_(choose_batch_size(options_, step_binding_, data_, program_.step)),
      order_(data_.rows(),
             {batch_size_, options_.seed, options_.shuffle, step_binding_.fixed_rows().has_value()}),
      fixed_parameters_(without(options_.parameters, program_.parameters)) {
  check_options(options_);
  if (options_.validation) {
    options_.validation->name = "validation";
    check_data_set(*options_.validation);
    bool has_loss =
        std::find(options_.metrics.begin(), options_.metrics.end(), "loss") != options_.metrics.end();
    validation_metrics_ = options_.metrics;
    if (!has_loss && !program_.loss.empty()) validation_metrics_.insert(validation_metrics_.begin(), "loss");
  }
  // Every epoch has its loss without that.
  for (const std::string& metric : options_.metrics)
    if (metric != "loss") training_metrics_.push_back(metric);
  // Without overflow: epochs may be given as a number that is never reached.
  std::int64_t batches = order_.batches_per_epoch();
  total_steps_ = options_.steps
                     ? *options_.steps
                     : (options_.epochs > INT64_MAX / batches ? INT64_MAX : options_.epochs * batches);
  make_initial_state();
  check_first_batch();
}

void Trainer::make_initial_state() {
  const Function& step = *step_binding_.function();
  const TupleType* types = step.params[0].type().tuple();
  RELISH_CHECK(types != nullptr && types->fields.size() == program_.parameters.size());

  std::vector<std::string> known = program_.parameters;
  for (std::size_t i = leading_parameters; i < step.params.size(); ++i)
    known.push_back(step.params[i].name());
  for (const auto& [name, tensor] : options_.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      fail(ErrorClass::Usage, options_.parameters_place, "train.params",
           fmt::format("params: no parameter '{}'{}", name, did_you_mean(name, known)));
    }
  }

  std::optional<Value> drawn;
  if (!program_.initial_params.empty()) {
    const RandomKey words = parameters_key(options_.seed);
    Tensor key = Tensor::empty(DType::UInt32, {2});
    for (std::int64_t i = 0; i < 2; ++i) key.set_int(i, words.words[static_cast<std::size_t>(i)]);
    drawn = evaluator_.call(program_.module, program_.initial_params, {key});
  }
  for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
    const std::string& name = program_.parameters[i];
    if (auto given = options_.parameters.find(name); given != options_.parameters.end()) {
      state_.parameters.push_back(given->second);
      continue;
    }
    const auto place = std::find(program_.drawn.begin(), program_.drawn.end(), name);
    if (!drawn || place == program_.drawn.end()) {
      misuse("train.params", fmt::format("parameter '{}' has no start value; expected one in params", name));
    }
    state_.parameters.push_back(
        drawn->fields()[static_cast<std::size_t>(place - program_.drawn.begin())].tensor());
  }
  check_values();
  std::vector<Value> parameters(state_.parameters.begin(), state_.parameters.end());
  state_.optimizer_states =
      evaluator_.call(program_.module, program_.optimizer_init, {Value::tuple(std::move(parameters))});
}

// Values and data against the model itself, whose parameters the user knows. What does not fit is reported
// before a run folder is made; the types of a batch are those of every batch.
void Trainer::check_values() const {
  if (!program_.loss.empty()) {
    const ColumnBinding binding(program_.module, program_.loss, 0, values_by_name(), data_, columns_.size());
    binding.check_fit(batch_of(0), data_, options_.parameters_place);
  }
  if (!options_.validation) return;
  EvaluateOptions later;
  later.metrics = validation_metrics_;
  later.parameters_place = options_.parameters_place;
  check_evaluation(program_, values_by_name(), *options_.validation, later);
}

void Trainer::check_first_batch() {
  std::vector<Value> parameters(state_.parameters.begin(), state_.parameters.end());
  std::vector<Tensor> batch = batch_of(0);
  std::vector<Value> arguments = step_binding_.arguments(
      {Value::tuple(std::move(parameters)), state_.optimizer_states, rate_tensor(learning_rate_of(0))},
      batch);
  bind_arguments(program_.step, step_binding_.function()->params, arguments);
}

Tensor Trainer::rate_tensor(double rate) const {
  const TensorType* type = step_binding_.function()->params[2].type().tensor();
  RELISH_CHECK(type != nullptr && type->dtype);
  return Tensor::scalar(*type->dtype, rate);
}

double Trainer::learning_rate_of(std::int64_t step) const {
  if (program_.learning_rate.empty()) return options_.learning_rate;
  const Value rate = evaluator_.call(program_.module, program_.learning_rate,
                                     {Tensor::scalar(DType::Float64, options_.learning_rate),
                                      Tensor::scalar(DType::Int64, static_cast<double>(step)),
                                      Tensor::scalar(DType::Int64, static_cast<double>(total_steps_))});
  return rate.tensor().get_double(0);
}

std::vector<Tensor> Trainer::batch_of(std::int64_t step) const {
  std::vector<std::int64_t> rows =
      order_.rows_of(step / order_.batches_per_epoch(), step % order_.batches_per_epoch());
  std::vector<Tensor> batch;
  batch.reserve(columns_.size());
  for (const Tensor& column : columns_) batch.push_back(gather_rows(column, rows));
  return batch;
}

// One step; the state changes only when all of it is finite.
double Trainer::do_step(double rate) {
  std::vector<Tensor> batch = batch_of(state_.step);
  std::vector<Value> parameters(state_.parameters.begin(), state_.parameters.end());
  Value result;
  try {
    result = evaluator_.call(
        program_.module, program_.step,
        step_binding_.arguments(
            {Value::tuple(std::move(parameters)), state_.optimizer_states, rate_tensor(rate)}, batch));
  } catch (const Failure& failure) {
    refuse_wrong_label(evaluator_, program_, values_by_name(), batch, data_, failure);
    throw;
  }
  const std::vector<Value>& fields = step_fields(result, program_.parameters.size());
  const Tensor& loss = fields[0].tensor();
  if (first_not_finite(loss)) report_not_finite_loss(batch, loss.get_double(0));
  for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
    if (first_not_finite(fields[1].fields()[i].tensor())) {
      report_not_finite(fmt::format("the update of parameter '{}'", program_.parameters[i]));
    }
  }
  if (std::optional<std::string> path = path_of_not_finite(fields[2])) {
    report_not_finite(path->empty() ? "the optimizer state" : fmt::format("optimizer state {}", *path));
  }

  bool moved = false;
  for (std::size_t i = 0; i < program_.parameters.size() && !moved; ++i)
    moved = !identical(state_.parameters[i], fields[1].fields()[i].tensor());
  // Where decay moves the parameters, the means of the gradients tell.
  const bool suspicious = !moved || same_means(state_.optimizer_states, fields[2]);
  zero_gradients_ = looks_for_zero_ && suspicious && gradients_are_zero(batch, values_by_name());
  looks_for_zero_ = looks_for_zero_ && !suspicious;
  for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
    state_.parameters[i] = fields[1].fields()[i].tensor();
  }
  state_.optimizer_states = fields[2];
  const std::int64_t rows = batch.back().shape().front();
  state_.epoch_loss_sum += loss.get_double(0) * program_.loss_weight(rows);
  ++state_.step;
  samples_ += rows;
  return shortest_double(loss);
}

bool Trainer::gradients_are_zero(const std::vector<Tensor>& batch, const TensorsByName& parameters) const {
  if (program_.adjoint.empty()) return false;
  const ColumnBinding binding(program_.module, program_.adjoint, 0, parameters, data_, batch.size());
  const Value result = evaluator_.call(program_.module, program_.adjoint, binding.arguments({}, batch));
  RELISH_CHECK(result.is_tuple() && result.fields().size() == 2);
  const std::vector<Value>& gradients = result.fields()[1].fields();
  return std::all_of(gradients.begin(), gradients.end(),
                     [](const Value& gradient) { return all_zero(gradient.tensor()); });
}

TensorsByName Trainer::values_by_name() const {
  TensorsByName values = fixed_parameters_;
  for (std::size_t i = 0; i < program_.parameters.size(); ++i)
    values[program_.parameters[i]] = state_.parameters[i];
  return values;
}

void Trainer::report_not_finite(const std::string& what) const {
  fail(ErrorClass::NumericStop, {}, "train.finite",
       fmt::format("step {}: {} is not finite; the state before this step is kept", state_.step + 1, what));
}

// The first tensor on the way to the loss: the batch, then the parameters, then the loss itself.
void Trainer::report_not_finite_loss(const std::vector<Tensor>& batch, double loss) const {
  std::string first = "the loss is the first tensor that is not finite";
  std::int64_t batches = order_.batches_per_epoch();
  bool found = false;
  for (std::size_t i = 0; i < batch.size() && !found; ++i) {
    std::optional<std::int64_t> place = first_not_finite(batch[i]);
    if (!place) continue;
    std::int64_t row = *place / (batch[i].size() / batch[i].shape().front());
    first = fmt::format(
        "the first tensor that is not finite is the input '{}', row {} of the data",
        step_binding_.parameter_of(i),
        order_.rows_of(state_.step / batches, state_.step % batches)[static_cast<std::size_t>(row)]);
    found = true;
  }
  for (std::size_t i = 0; i < state_.parameters.size() && !found; ++i) {
    if (!first_not_finite(state_.parameters[i])) continue;
    first = fmt::format("the first tensor that is not finite is parameter '{}'", program_.parameters[i]);
    found = true;
  }
  fail(ErrorClass::NumericStop, {}, "train.finite",
       fmt::format("step {}: the loss is {}; {}", state_.step + 1, format_double(loss), first));
}

bool Trainer::is_logged(const StepReport& report, bool ends_epoch) const {
  if (report.step == 1 || report.step == total_steps_ || ends_epoch) return true;
  if (options_.log_every.seconds > 0)
    return report.seconds + started_ - last_logged_ >= options_.log_every.seconds;
  return report.step % options_.log_every.steps == 0;
}

EpochReport Trainer::finish_epoch(const StepReport& step) {
  EpochReport report;
  report.step = step;
  report.loss = state_.epoch_loss_sum / static_cast<double>(order_.rows_per_epoch());
  state_.epoch_loss_sum = 0;
  const double before = monotonic_seconds();
  if (!training_metrics_.empty()) report.metrics = metrics_over(data_, training_metrics_);
  if (options_.validation) report.validation = metrics_over(*options_.validation, validation_metrics_);
  validation_seconds_ += monotonic_seconds() - before;
  return report;
}

Metrics Trainer::metrics_over(const DataSet& data, const std::vector<std::string>& names) const {
  EvaluateOptions options;
  options.metrics = names;
  return evaluate(evaluator_, program_, values_by_name(), data, options);
}

StopReason Trainer::run(TrainingObserver& observer, const Log& log) {
  started_ = monotonic_seconds() - seconds();
  running_ = true;
  last_logged_ = monotonic_seconds();
  struct StopClock {
    Trainer& trainer;
    ~StopClock() {
      trainer.seconds_ = monotonic_seconds() - trainer.started_;
      trainer.running_ = false;
    }
  } stop_clock{*this};

  const std::int64_t batches = order_.batches_per_epoch();
  // From the first step on there is something to save: a signal waits for the poll between steps.
  std::optional<InterruptHold> worth_saving;
  try {
    while (state_.step < total_steps_) {
      poll_interrupt();
      if (observer.should_stop()) return StopReason::Observer;
      const double rate = learning_rate_of(state_.step);
      last_loss_ = do_step(rate);
      if (!worth_saving) worth_saving.emplace();
      const bool ends_epoch = state_.step % batches == 0;
      StepReport report;
      report.step = state_.step;
      report.epoch = (state_.step - 1) / batches + 1;
      report.total_steps = total_steps_;
      report.total_epochs = options_.steps ? 0 : options_.epochs;
      report.loss = *last_loss_;
      report.learning_rate = rate;
      report.samples = samples_;
      const double now = monotonic_seconds();
      report.seconds = now - started_;
      const double training_seconds = now - last_logged_ - validation_seconds_;
      report.samples_per_second =
          training_seconds > 0 ? static_cast<double>(samples_ - samples_logged_) / training_seconds : 0;
      report.logged = is_logged(report, ends_epoch);
      if (report.logged) {
        last_logged_ = now;
        validation_seconds_ = 0;
        samples_logged_ = samples_;
      }
      observer.on_step(report);
      if (zero_gradients_) observer.on_zero_gradients(report.step);
      if (ends_epoch) {
        last_epoch_ = finish_epoch(report);
        log(report, &*last_epoch_);
        observer.on_epoch(*last_epoch_);
      } else if (report.logged) {
        log(report, nullptr);
      }
    }
  } catch (Failure& failure) {
    if (failure.error_class() != ErrorClass::Interrupted) throw;
    interrupt_ = failure;
    return StopReason::Interrupted;
  }
  return StopReason::Finished;
}

double Trainer::seconds() const { return running_ ? monotonic_seconds() - started_ : seconds_; }

NamedTensors Trainer::named_parameters() const {
  const TensorsByName values = values_by_name();
  NamedTensors result;
  for (const Var& parameter : function_to_call(program_.module, program_.inference)->params) {
    if (const auto found = values.find(parameter.name()); found != values.end())
      result.emplace_back(found->first, found->second);
  }
  return result;
}

std::vector<std::string> Trainer::input_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < data_.inputs.size(); ++i) names.push_back(step_binding_.parameter_of(i));
  return names;
}

std::vector<std::string> Trainer::target_names() const {
  return {step_binding_.parameter_of(data_.inputs.size())};
}

}  // namespace relish

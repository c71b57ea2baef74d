// Steps, epochs and their reports. Everything that decides numbers happens here in one thread and in a fixed
// order; the only parallel work is inside the evaluator, whose results do not depend on the number of
// threads.
#include "train/trainer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "ir/entry.h"
#include "runtime/format.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/suggest.h"
#include "train/finite.h"
#include "train/initialise.h"

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

std::int64_t choose_batch_size(const TrainOptions& options, std::optional<std::int64_t> fixed,
                               std::int64_t rows, const std::string& function) {
  if (options.batch_size && *options.batch_size <= 0) {
    misuse("train.batch_size",
           fmt::format("found batch_size {}; expected a positive number", *options.batch_size));
  }
  if (fixed && options.batch_size && *options.batch_size != *fixed) {
    misuse("train.batch_size", fmt::format("found batch_size {}; {} takes batches of {}", *options.batch_size,
                                           function, counted(*fixed, "row")));
  }
  if (fixed && rows < *fixed) {
    fail(ErrorClass::Data, {}, "data.rows",
         fmt::format("data: found {}; {} takes batches of {}", counted(rows, "row"), function,
                     counted(*fixed, "row")));
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
  check_data_set(data, "data");
  return data;
}
const DataSet& checked(DataSet&& data) = delete;  // it would be gone

// The values of parameters that are not trained.
TensorsByName without(const TensorsByName& values, const std::vector<std::string>& names) {
  TensorsByName result = values;
  for (const std::string& name : names) result.erase(name);
  return result;
}

// The result of train_step.
const std::vector<Value>& step_fields(const Value& result, std::size_t parameters) {
  RELISH_CHECK(result.is_tuple() && result.fields().size() == 3 && result.fields()[1].is_tuple() &&
               result.fields()[1].fields().size() == parameters);
  return result.fields();
}

}  // namespace

Trainer::Trainer(Evaluator& evaluator, TrainingProgram program, DataSet data, TrainOptions options)
    : evaluator_(evaluator),
      program_(std::move(program)),
      data_(std::move(data)),
      columns_(checked(data_).columns()),
      options_(std::move(options)),
      step_binding_(program_.module, program_.step, leading_parameters,
                    without(options_.parameters, program_.parameters), columns_.size(), "data"),
      batch_size_(choose_batch_size(options_, step_binding_.fixed_rows(), data_.rows(), program_.step)),
      order_(data_.rows(),
             {batch_size_, options_.seed, options_.shuffle, step_binding_.fixed_rows().has_value()}),
      fixed_parameters_(without(options_.parameters, program_.parameters)) {
  check_options(options_);
  if (options_.validation) {
    check_data_set(*options_.validation, "validation");
    bool has_loss =
        std::find(options_.metrics.begin(), options_.metrics.end(), "loss") != options_.metrics.end();
    if (!has_loss && !program_.loss.empty()) options_.metrics.insert(options_.metrics.begin(), "loss");
  } else {
    options_.metrics.clear();
  }
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
      misuse("train.params", fmt::format("params: no parameter '{}'{}", name, did_you_mean(name, known)));
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
    const TensorType* type = types->fields[i].tensor();
    RELISH_CHECK(type != nullptr && type->dtype && is_float(*type->dtype));
    Shape shape;
    for (int d = 0; d < type->rank && type->has_shape(); ++d) {
      if (std::optional<std::int64_t> dim = (*type->shape)[static_cast<std::size_t>(d)].as_int())
        shape.push_back(*dim);
    }
    if (!type->has_shape() || static_cast<int>(shape.size()) != type->rank) {
      misuse("train.params",
             fmt::format("parameter '{}' has no fixed shape; expected its start value in params", name));
    }
    state_.parameters.push_back(drawn ? drawn->fields()[i].tensor()
                                      : initial_parameter(*type->dtype, shape, options_.seed, i));
  }
  std::vector<Value> parameters(state_.parameters.begin(), state_.parameters.end());
  state_.optimizer_states =
      evaluator_.call(program_.module, program_.optimizer_init, {Value::tuple(std::move(parameters))});
}

// What does not fit is reported before a run folder is made. The types of a batch are those of every batch.
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
  Value result = evaluator_.call(
      program_.module, program_.step,
      step_binding_.arguments(
          {Value::tuple(std::move(parameters)), state_.optimizer_states, rate_tensor(rate)}, batch));
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
  if (options_.validation) {
    double before = monotonic_seconds();
    TensorsByName parameters = fixed_parameters_;
    for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
      parameters[program_.parameters[i]] = state_.parameters[i];
    }
    EvaluateOptions options;
    options.metrics = options_.metrics;
    report.validation = evaluate(evaluator_, program_, parameters, *options_.validation, options);
    validation_seconds_ += monotonic_seconds() - before;
  }
  return report;
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
  try {
    while (state_.step < total_steps_) {
      poll_interrupt();
      if (observer.should_stop()) return StopReason::Observer;
      const double rate = learning_rate_of(state_.step);
      last_loss_ = do_step(rate);
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
  NamedTensors result;
  for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
    result.emplace_back(program_.parameters[i], state_.parameters[i]);
  }
  return result;
}

}  // namespace relish

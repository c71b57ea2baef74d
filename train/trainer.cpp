// Steps, epochs and their reports. The state changes in two places: behind a whole step, and behind what its
// epoch is told by; an interrupt in between leaves the second to be done first by whoever goes on.
#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "support/interrupt.h"
#include "train/evaluate.h"

namespace relish {
namespace {

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Trainer::Trainer(Evaluator& evaluator, TrainingProgram program, DataSet data, TrainOptions options)
    : steps_(evaluator, std::move(program), std::move(data), std::move(options)) {
  const std::vector<std::string>& metrics = steps_.options().metrics;
  if (steps_.options().validation) {
    const bool has_loss = std::find(metrics.begin(), metrics.end(), "loss") != metrics.end();
    validation_metrics_ = metrics;
    if (!has_loss && !steps_.program().loss.empty())
      validation_metrics_.insert(validation_metrics_.begin(), "loss");
  }
  // Every epoch has its loss without that.
  for (const std::string& metric : metrics)
    if (metric != "loss") training_metrics_.push_back(metric);
  state_ = steps_.initial_state();
  steps_.check_values(state_, validation_metrics_);
}

TrainingState Trainer::snapshot() const {
  TrainingState state = state_;
  state.seconds = seconds();
  return state;
}

double Trainer::seconds() const {
  return pace_.running ? monotonic_seconds() - pace_.started : state_.seconds;
}

bool Trainer::is_logged(const StepReport& report, bool ends_epoch) const {
  if (report.step == 1 || report.step == total_steps() || ends_epoch) return true;
  const Every& every = steps_.options().log_every;
  if (every.seconds > 0) return report.seconds + pace_.started - pace_.logged >= every.seconds;
  return report.step % every.steps == 0;
}

StepReport Trainer::report_of_step() const {
  const std::int64_t batches = steps_.order().batches_per_epoch();
  StepReport report;
  report.step = state_.step;
  report.epoch = (state_.step - 1) / batches + 1;
  report.total_steps = total_steps();
  report.total_epochs = steps_.options().steps ? 0 : steps_.options().epochs;
  report.loss = state_.loss.value_or(0);
  report.learning_rate = state_.learning_rate;
  report.samples = steps_.samples_of(state_.step);
  const double now = monotonic_seconds();
  report.seconds = now - pace_.started;
  const double training_seconds = now - pace_.logged - pace_.validation;
  report.samples_per_second =
      training_seconds > 0 ? static_cast<double>(report.samples - pace_.samples_logged) / training_seconds
                           : 0;
  report.logged = is_logged(report, state_.step % batches == 0);
  return report;
}

EpochReport Trainer::finish_epoch(const StepReport& step) {
  EpochReport report;
  report.step = step;
  report.loss = state_.epoch_loss_sum / static_cast<double>(steps_.order().rows_per_epoch());
  const double before = monotonic_seconds();
  if (!training_metrics_.empty())
    report.metrics = steps_.metrics_over(state_, steps_.data(), training_metrics_);
  if (steps_.options().validation)
    report.validation = steps_.metrics_over(state_, *steps_.options().validation, validation_metrics_);
  pace_.validation += monotonic_seconds() - before;
  return report;
}

// By the first metric that was asked for, else by the loss.
bool Trainer::is_best(const Metrics& validation) {
  const std::string& metric =
      steps_.options().metrics.empty() ? validation_metrics_.front() : steps_.options().metrics.front();
  const double value = validation.at(metric);
  if (std::isnan(value)) return false;
  const bool less_is_better = metric == "loss";
  if (state_.best && (less_is_better ? value >= state_.best->value : value <= state_.best->value))
    return false;
  state_.best = BestSoFar{value, state_.step};
  return true;
}

void Trainer::tell(TrainingObserver& observer, const LoopActions& actions, bool fresh) {
  const StepReport report = report_of_step();
  if (report.logged) {
    pace_.logged = pace_.started + report.seconds;
    pace_.validation = 0;
    pace_.samples_logged = report.samples;
  }
  const bool ends_epoch = state_.step % steps_.order().batches_per_epoch() == 0;
  // Written down first: an observer may wait for somebody who reads, and be told to stop there.
  if (report.logged && !ends_epoch) actions.log(report, nullptr);
  if (fresh) {
    observer.on_step(report);
    if (zero_gradients_) observer.on_zero_gradients(report.step);
  }
  if (!ends_epoch) return;
  const EpochReport epoch = finish_epoch(report);
  {
    // Nothing is asked to stop here: what was written and what the state says of it stay together.
    const InterruptShield telling;
    state_.last_epoch = epoch;
    state_.epoch_loss_sum = 0;
    state_.epochs_told = whole_epochs();
    actions.log(report, &epoch);
    if (epoch.validation && !validation_metrics_.empty() && is_best(*epoch.validation)) actions.save_best();
  }
  observer.on_epoch(epoch);
}

void Trainer::do_step(TrainingObserver& observer, const LoopActions& actions) {
  const double rate = steps_.learning_rate_of(state_.step);
  TrainingSteps::Done done = steps_.step(state_, rate);
  zero_gradients_ = state_.looks_for_zero && done.no_change && steps_.gradients_are_zero(state_);
  state_.looks_for_zero = state_.looks_for_zero && !done.no_change;
  state_.parameters = std::move(done.results.parameters);
  state_.buffers = std::move(done.results.buffers);
  state_.optimizer_states = std::move(done.results.optimizer_states);
  state_.epoch_loss_sum += done.loss_sum;
  state_.loss = done.loss;
  state_.learning_rate = rate;
  ++state_.step;
  tell(observer, actions, true);
}

bool Trainer::save_is_due(std::int64_t last_step) const {
  const Every& every = steps_.options().checkpoint_every;
  if (every.seconds > 0) return monotonic_seconds() - pace_.saved >= every.seconds;
  return state_.step / every.steps > last_step / every.steps;
}

StopReason Trainer::run(TrainingObserver& observer, const LoopActions& actions) {
  pace_.started = monotonic_seconds() - state_.seconds;
  pace_.running = true;
  pace_.logged = pace_.saved = monotonic_seconds();
  pace_.samples_logged = steps_.samples_of(state_.step);
  struct StopClock {
    Trainer& trainer;
    ~StopClock() {
      trainer.state_.seconds = monotonic_seconds() - trainer.pace_.started;
      trainer.pace_.running = false;
    }
  } stop_clock{*this};

  // From the first step on there is something to save: a signal waits for the poll between steps.
  std::optional<InterruptHold> worth_saving;
  if (state_.step > 0) worth_saving.emplace();
  std::int64_t last_saved = state_.step;
  try {
    // An epoch that was left between its last step and its metrics.
    if (whole_epochs() > state_.epochs_told) tell(observer, actions, false);
    while (state_.step < total_steps()) {
      poll_interrupt();
      actions.between();
      if (observer.should_stop()) return StopReason::Observer;
      do_step(observer, actions);
      if (!worth_saving) worth_saving.emplace();
      if (!take_save_request() && !save_is_due(last_saved)) continue;
      last_saved = state_.step;
      actions.save();
      pace_.saved = monotonic_seconds();
    }
  } catch (Failure& failure) {
    if (failure.error_class() != ErrorClass::Interrupted) throw;
    interrupt_ = failure;
    return StopReason::Interrupted;
  }
  return StopReason::Finished;
}

NamedTensors Trainer::named_parameters() const {
  const TensorsByName values = steps_.values_by_name(state_);
  NamedTensors result;
  for (const Var& parameter : function_to_call(steps_.program().module, steps_.program().inference)->params) {
    if (const auto found = values.find(parameter.name()); found != values.end())
      result.emplace_back(found->first, found->second);
  }
  return result;
}

}  // namespace relish

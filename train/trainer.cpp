// Steps, epochs and their reports. The state changes in two places: behind a whole step, and behind what its
// epoch is told by; an interrupt in between leaves the second to be done first by whoever goes on.
#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

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
  if (const auto& stopping = steps_.options().early_stopping) {
    const auto known = std::find(validation_metrics_.begin(), validation_metrics_.end(), stopping->metric);
    if (known == validation_metrics_.end()) {
      fail(ErrorClass::Usage, {}, "train.early_stopping",
           fmt::format("early_stopping: '{}' is no metric of the validation data; they are {}",
                       stopping->metric, fmt::join(validation_metrics_, ", ")));
    }
  }
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
  report.loss =
      state_.epoch_loss_sum / static_cast<double>(steps_.order().rows_per_epoch() - state_.skipped_rows);
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
    state_.skipped_rows = 0;
    if (epoch.validation) look_for_end(*epoch.validation);
    state_.epochs_told = whole_epochs();
    actions.log(report, &epoch);
    if (epoch.validation && !validation_metrics_.empty() && is_best(*epoch.validation)) actions.save_best();
  }
  observer.on_epoch(epoch);
  if (has_stopped_early()) {
    const EarlyStopping& stopping = *steps_.options().early_stopping;
    observer.on_note(fmt::format("stopped early: validation {} has been at best {:.6g} for {} epochs",
                                 stopping.metric, state_.stopping->best, state_.stopping->epochs_without));
  }
}

// A NaN is never better.
void Trainer::look_for_end(const Metrics& validation) {
  const auto& stopping = steps_.options().early_stopping;
  if (!stopping) return;
  const double value = validation.at(stopping->metric);
  auto& seen = state_.stopping;
  const double gain = !seen ? 0 : stopping->metric == "loss" ? seen->best - value : value - seen->best;
  if (!seen && !std::isnan(value)) {
    seen = StoppingState{value, 0};
  } else if (seen && gain > stopping->min_delta) {
    *seen = {value, 0};
  } else if (seen) {
    ++seen->epochs_without;
  }
}

bool Trainer::has_stopped_early() const {
  const auto& stopping = steps_.options().early_stopping;
  return stopping && state_.stopping && state_.stopping->epochs_without >= stopping->patience;
}

// The first few are told one by one.
void Trainer::skip_step(TrainingObserver& observer, const Failure& why) {
  constexpr std::int64_t most_told = 5;
  const std::int64_t batch = state_.step % steps_.order().batches_per_epoch();
  state_.skipped_rows += steps_.order().size_of_batch(batch);
  ++state_.skipped_steps;
  if (state_.skipped_steps <= most_told)
    observer.on_note("warning: skipped " + why.diagnostics().front().message);
  if (state_.skipped_steps == most_told)
    observer.on_note("further steps that are not finite are skipped without a word; report.json counts them");
  state_.loss = std::nan("");
}

void Trainer::do_step(TrainingObserver& observer, const LoopActions& actions) {
  const double rate = steps_.learning_rate_of(state_.step);
  state_.learning_rate = rate;
  TrainingSteps::Done done;
  try {
    done = steps_.step(state_, rate);
  } catch (const Failure& failure) {
    if (!steps_.options().skip_not_finite || failure.error_class() != ErrorClass::NumericStop) throw;
    skip_step(observer, failure);
    zero_gradients_ = false;
    ++state_.step;
    tell(observer, actions, true);
    return;
  }
  zero_gradients_ = state_.looks_for_zero && done.no_change && steps_.gradients_are_zero(state_);
  state_.looks_for_zero = state_.looks_for_zero && !done.no_change;
  state_.parameters = std::move(done.results.parameters);
  state_.buffers = std::move(done.results.buffers);
  state_.averages = std::move(done.results.averages);
  state_.optimizer_states = std::move(done.results.optimizer_states);
  state_.epoch_loss_sum += done.loss_sum;
  state_.loss = done.loss;
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
    while (state_.step < total_steps() && !has_stopped_early()) {
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

NamedTensors Trainer::named_parameters(TrainingSteps::Which which) const {
  const TensorsByName values = steps_.values_by_name(state_, which);
  NamedTensors result;
  for (const Var& parameter : function_to_call(steps_.program().module, steps_.program().inference)->params) {
    if (const auto found = values.find(parameter.name()); found != values.end())
      result.emplace_back(found->first, found->second);
  }
  return result;
}

}  // namespace relish

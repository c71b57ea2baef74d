// Steps, epochs and their reports. The state changes in two places: behind a whole step, and behind what its
// epoch is told by; an interrupt in between leaves the second to be done first by whoever goes on.
#include "train/trainer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/clock.h"
#include "support/interrupt.h"
#include "train/evaluate.h"
#include "train/labels.h"

namespace relish {
namespace {

// Rows that so many steps have gone over.
std::int64_t rows_seen(const TrainingSteps& steps, std::int64_t count) {
  const BatchOrder& order = steps.order();
  const std::int64_t batches = order.batches_per_epoch(), rows = order.rows_per_epoch();
  const std::int64_t of_step = steps.batch_size() * steps.options().accumulate;
  return count / batches * rows + std::min(count % batches * of_step, rows);
}

void take_over(StepFunction::Results&& results, TrainingState& state) {
  state.parameters = std::move(results.parameters);
  state.buffers = std::move(results.buffers);
  state.averages = std::move(results.averages);
  state.optimizer_states = std::move(results.optimizer_states);
}

// NumericStop when no step of a job that is done was finite; `last`: why the last of them was left out.
void refuse_all_skipped(const TrainingState& state, const std::optional<Failure>& last) {
  if (state.step == 0 || state.skipped_steps < state.step) return;
  std::vector<DiagnosticNote> notes;
  if (last) notes.push_back({{}, "the last of them: " + last->diagnostics().front().message});
  fail(ErrorClass::NumericStop, last ? last->diagnostics().front().span : Span{}, "train.all_skipped",
       fmt::format("{} skipped, since none was finite: nothing was trained",
                   state.step == 1 ? "the only step was" : fmt::format("all {} steps were", state.step)),
       std::move(notes));
}

}  // namespace

Trainer::Trainer(Evaluator& evaluator, TrainingProgram program, DataSet data, TrainOptions options)
    : steps_(evaluator, std::move(program), std::move(data), std::move(options)),
      gives_(evaluator.giving() != nullptr) {
  const std::vector<Metric>& metrics = steps_.options().metrics;
  if (steps_.options().validation) {
    const bool has_loss =
        std::any_of(metrics.begin(), metrics.end(), [](const Metric& metric) { return metric.is_loss(); });
    validation_.specs = metrics;
    if (!has_loss && !steps_.program().loss.empty())
      validation_.specs.insert(validation_.specs.begin(), Metric("loss"));
  }
  // Every epoch has its loss without that.
  for (const Metric& metric : metrics)
    if (!metric.is_loss()) training_.specs.push_back(metric);
  for (const Metric& metric : training_.specs) training_.names.push_back(metric.name);
  for (const Metric& metric : validation_.specs) validation_.names.push_back(metric.name);
  if (const auto& stopping = steps_.options().early_stopping) {
    const auto known = std::find(validation_.names.begin(), validation_.names.end(), stopping->metric);
    if (known == validation_.names.end()) {
      fail(ErrorClass::Usage, {}, "train.early_stopping",
           fmt::format("early_stopping: '{}' is no metric of the validation data; they are {}",
                       stopping->metric, fmt::join(validation_.names, ", ")));
    }
  }
  if (const auto sums = steps_.function().sums_of_metrics()) training_.totals.emplace(training_.specs, *sums);
  state_ = steps_.initial_state();
  steps_.check_values(state_, training_.specs, validation_.specs);
  const TensorsByName values = steps_.values_by_name(state_);
  check_labels(evaluator, steps_.program(), values, steps_.data());
  if (const auto& validation = steps_.options().validation)
    check_labels(evaluator, steps_.program(), values, *validation);
}

TrainingState Trainer::snapshot() const {
  TrainingState state = state_;
  state.seconds = seconds();
  return state;
}

double Trainer::seconds() const { return pace_.running ? steady_seconds() - pace_.started : state_.seconds; }

bool Trainer::is_logged(const StepReport& report, bool ends_epoch) const {
  const Every& every = steps_.options().log_every;
  if (report.step == total_steps() || ends_epoch) return true;
  if (every.never()) return false;
  if (report.step == 1) return true;
  if (every.seconds > 0) return report.seconds + pace_.started - pace_.logged >= every.seconds;
  return report.step % every.steps == 0;
}

// Of a step that ended at `now`.
StepReport Trainer::report_of(const DoneStep& done, double now) {
  const std::int64_t batches = steps_.order().batches_per_epoch();
  StepReport report;
  report.step = done.step;
  report.epoch = (done.step - 1) / batches + 1;
  report.total_steps = total_steps();
  report.total_epochs = steps_.options().steps ? 0 : steps_.options().epochs;
  report.loss = done.loss;
  report.learning_rate = done.learning_rate;
  report.gradient_norm = done.gradient_norm;
  report.samples = rows_seen(steps_, done.step);
  report.seconds = now - pace_.started;
  const double training_seconds = now - pace_.logged - pace_.validation;
  report.samples_per_second =
      pace_.compiled && training_seconds > 0
          ? static_cast<double>(report.samples - pace_.samples_logged) / training_seconds
          : 0;
  report.logged = is_logged(report, done.step % batches == 0);
  if (report.logged) {
    pace_.logged = now;
    pace_.validation = 0;
    pace_.samples_logged = report.samples;
  }
  return report;
}

EpochReport Trainer::finish_epoch(const StepReport& step) {
  EpochReport report;
  report.step = step;
  report.loss =
      state_.epoch_loss_sum / static_cast<double>(steps_.order().rows_per_epoch() - state_.skipped_rows);
  const double before = steady_seconds();
  if (training_.totals)
    report.metrics = training_.totals->values(state_.metric_sums);
  else if (!training_.names.empty())
    report.metrics = steps_.metrics_over(state_, steps_.data(), training_.specs);
  if (steps_.options().validation)
    report.validation = steps_.metrics_over(state_, *steps_.options().validation, validation_.specs);
  pace_.validation += steady_seconds() - before;
  return report;
}

// By the first metric that was asked for, else by the loss.
bool Trainer::is_best(const Metrics& validation) {
  const Metric& metric =
      steps_.options().metrics.empty() ? validation_.specs.front() : steps_.options().metrics.front();
  const double value = validation.at(metric.name);
  if (std::isnan(value)) return false;
  const bool less_is_better = metric.less_is_better;
  if (state_.best && (less_is_better ? value >= state_.best->value : value <= state_.best->value))
    return false;
  state_.best = BestSoFar{value, state_.step};
  return true;
}

// Steps that follow each other; an epoch ends only with the last of them. `began`: when the first did.
void Trainer::tell(TrainingObserver& observer, const LoopActions& actions, std::span<const DoneStep> done,
                   double began, bool fresh) {
  const double now = steady_seconds();
  const double each = (now - began) / static_cast<double>(done.size());
  const bool ends_epoch = state_.step % steps_.order().batches_per_epoch() == 0;
  std::vector<StepReport> reports;
  reports.reserve(done.size());
  // Written down first: an observer may wait for somebody who reads, and be told to stop there.
  for (std::size_t i = 0; i < done.size(); ++i) {
    reports.push_back(report_of(done[i], began + each * static_cast<double>(i + 1)));
    if (fresh && !pace_.compiled) {  // what comes now was compiled: the pace is that of the steps
      pace_.compiled = true;
      pace_.logged = pace_.started + reports.back().seconds;
      pace_.validation = 0;
      pace_.samples_logged = reports.back().samples;
    }
    if (reports.back().logged && !(ends_epoch && i + 1 == done.size())) actions.log(reports.back(), nullptr);
  }
  for (const StepReport& report : reports)
    if (fresh) observer.on_step(report);
  if (fresh && zero_gradients_) observer.on_zero_gradients(reports.front().step);
  if (!ends_epoch) return;
  const StepReport& report = reports.back();
  const EpochReport epoch = finish_epoch(report);
  {
    // Nothing is asked to stop here: what was written and what the state says of it stay together.
    const InterruptShield telling;
    state_.last_epoch = epoch;
    state_.epoch_loss_sum = 0;
    state_.metric_sums.clear();
    state_.skipped_rows = 0;
    if (epoch.validation) look_for_end(*epoch.validation);
    state_.epochs_told = whole_epochs();
    actions.log(report, &epoch);
    if (epoch.validation && !validation_.specs.empty() && is_best(*epoch.validation)) actions.save_best();
  }
  observer.on_epoch(epoch);
  if (const std::string why = early_stop(); !why.empty()) observer.on_note("stopped early: " + why);
}

std::string Trainer::early_stop() const {
  if (!has_stopped_early()) return "";
  return fmt::format("validation {} has been at best {:.6g} for {} epochs",
                     steps_.options().early_stopping->metric, state_.stopping->best,
                     state_.stopping->epochs_without);
}

// A NaN is never better.
void Trainer::look_for_end(const Metrics& validation) {
  const auto& stopping = steps_.options().early_stopping;
  if (!stopping) return;
  const double value = validation.at(stopping->metric);
  auto& seen = state_.stopping;
  const auto metric = std::find_if(validation_.specs.begin(), validation_.specs.end(),
                                   [&](const Metric& each) { return each.name == stopping->metric; });
  const double gain = !seen ? 0 : metric->less_is_better ? seen->best - value : value - seen->best;
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
  skipped_ = why;
  const std::int64_t batch = state_.step % steps_.order().batches_per_epoch();
  state_.skipped_rows += steps_.order().size_of_batch(batch);
  ++state_.skipped_steps;
  if (state_.skipped_steps <= most_told)
    observer.on_note("warning: skipped " + why.diagnostics().front().message);
  if (state_.skipped_steps == most_told)
    observer.on_note("further steps that are not finite are skipped without a word; report.json counts them");
  state_.loss = std::nan("");
}

// Of the step whose results were taken over; its number is still that of the step before.
void Trainer::look_for_zero_gradients(bool no_change) {
  zero_gradients_ = state_.looks_for_zero && no_change && steps_.gradients_are_zero(state_);
  // Once something has moved, or the job was told of, there is nothing more to look for.
  state_.looks_for_zero = state_.looks_for_zero && no_change && !zero_gradients_;
}

void Trainer::bring_back(TrainingObserver& observer, const LoopActions& actions) {
  if (!state_.gave_tensors()) return;
  constexpr double seconds_without_a_word = 1;
  const double began = steady_seconds();
  bool told = false;
  try {
    TrainingState again = actions.saved();
    again.looks_for_zero = false;
    while (again.step < state_.step) {
      poll_interrupt();
      if (!told && steady_seconds() - began > seconds_without_a_word) {
        told = true;
        observer.on_note(
            fmt::format("note: step {} went wrong; the state before it is made again from step {}",
                        state_.step + 1, again.step));
      }
      const std::int64_t count =
          steps_.steps_at_once(again.step, std::min(pace_.at_once, state_.step - again.step));
      std::vector<double> rates;
      for (std::int64_t i = 0; i < std::max<std::int64_t>(count, 1); ++i)
        rates.push_back(steps_.learning_rate_of(again.step + i));
      std::optional<ManySteps::Done> done;
      if (count > 0) done = steps_.many(again, rates, true);
      if (!done) {
        // What a call of many does not do, such as a batch of which nothing counts, was done alone before
        // too.
        RELISH_CHECK(!again.gave_tensors(), "steps that went well do not when they are done again");
        rates.resize(1);
      }
      StepFunction::Results results =
          done ? std::move(done->results) : steps_.step(again, rates.front()).results;
      take_over(std::move(results), again);
      again.step += static_cast<std::int64_t>(rates.size());
    }
    state_.parameters = std::move(again.parameters);
    state_.buffers = std::move(again.buffers);
    state_.averages = std::move(again.averages);
    state_.optimizer_states = std::move(again.optimizer_states);
  } catch (const Failure&) {
    const InterruptShield going_back;
    try {
      state_ = actions.saved();
    } catch (const Failure&) {
      state_ = steps_.initial_state();
    }
    throw;
  }
}

// Steps that a loss scale left out are told of as they come.
void Trainer::tell_left_out(TrainingObserver& observer, std::int64_t before) {
  const StepFunction& step = steps_.function();
  const std::int64_t after = step.steps_left_out(state_.optimizer_states);
  if (after == before) return;
  const double scale = step.loss_scale(state_).tensor().get_double(0);
  constexpr std::int64_t most_told = 10;
  constexpr double least_scale = 1.0 / 16384;
  if (before < most_told) {
    observer.on_note(
        fmt::format("up to step {} {} left out, since a gradient was too large for fp16; the "
                    "loss scale is now {}",
                    state_.step, after == 1 ? "1 step was" : fmt::format("{} steps were", after), scale));
  }
  if (scale >= least_scale) return;
  // The step changed nothing but the scale: its state is the one before it.
  TrainingState state = state_;
  --state.step;
  steps_.report_not_finite(state, "train.loss_scale", "the gradients are not finite at any loss scale", "");
}

void Trainer::do_one(TrainingObserver& observer, const LoopActions& actions, bool gives) {
  const double began = steady_seconds();
  const double rate = steps_.learning_rate_of(state_.step);
  const std::int64_t left_out = steps_.function().steps_left_out(state_.optimizer_states);
  std::optional<TrainingSteps::Done> given;
  if (gives) given = steps_.step_giving(state_, rate);
  if (!given) bring_back(observer, actions);
  TrainingSteps::Done done;
  zero_gradients_ = false;
  state_.learning_rate = rate;
  try {
    done = given ? std::move(*given) : steps_.step(state_, rate);
  } catch (const Failure& failure) {
    if (!steps_.options().skip_not_finite || failure.error_class() != ErrorClass::NumericStop) throw;
    skip_step(observer, failure);
    ++state_.step;
    state_.gradient_norm = std::nullopt;
    const DoneStep skipped{state_.step, std::nan(""), rate};
    tell(observer, actions, {&skipped, 1}, began, true);
    return;
  }
  const std::optional<double> gradient_norm = done.results.gradient_norm;
  if (training_.totals) training_.totals->add(done.results.metric_sums, state_.metric_sums);
  take_over(std::move(done.results), state_);
  look_for_zero_gradients(done.no_change);
  state_.loss = done.loss;
  state_.epoch_loss_sum += done.loss_sum;
  ++state_.step;
  state_.gradient_norm = gradient_norm;
  const DoneStep told{state_.step, done.loss, rate, gradient_norm};
  tell_left_out(observer, left_out);
  tell(observer, actions, {&told, 1}, began, true);
}

void Trainer::do_steps(TrainingObserver& observer, const LoopActions& actions) {
  const double began = steady_seconds();
  // Until something has changed, each step is looked at by itself.
  std::int64_t most = state_.looks_for_zero ? 1 : pace_.at_once;
  if (const Every& every = steps_.options().checkpoint_every; every.steps > 0)
    most = std::min(most, every.steps - state_.step % every.steps);
  const std::int64_t count = steps_.steps_at_once(state_.step, most);
  if (count == 0) return do_one(observer, actions, gives_);
  std::vector<double> rates;
  for (std::int64_t i = 0; i < count; ++i) rates.push_back(steps_.learning_rate_of(state_.step + i));
  const std::int64_t left_out = steps_.function().steps_left_out(state_.optimizer_states);
  std::optional<ManySteps::Done> done = steps_.many(state_, rates, gives_);
  if (!done) {
    // One of them went wrong: which, and what becomes of it, shows step by step.
    bring_back(observer, actions);
    for (std::int64_t i = 0; i < count; ++i) do_one(observer, actions, false);
    return;
  }
  pace_.look_at(count, steady_seconds() - began - done->seconds_compiling);
  if (training_.totals) training_.totals->add(done->results.metric_sums, state_.metric_sums);
  take_over(std::move(done->results), state_);
  look_for_zero_gradients(done->no_change);
  std::vector<DoneStep> told;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    state_.epoch_loss_sum += done->loss_sums[i];
    ++state_.step;
    told.push_back({state_.step, done->losses[i], rates[i]});
    if (!done->gradient_norms.empty()) told.back().gradient_norm = done->gradient_norms[i];
  }
  state_.gradient_norm = told.back().gradient_norm;
  state_.loss = told.back().loss;
  state_.learning_rate = rates.back();
  tell_left_out(observer, left_out);
  tell(observer, actions, told, began, true);
}

// As many steps as fit a tenth of a second; not at once, since the first call finds nothing in the caches. A
// signal may have to wait for all of them.
void Trainer::Pace::look_at(std::int64_t count, double seconds) {
  constexpr double most_seconds = 0.08;
  constexpr std::int64_t most_steps = 1024, growth = 4;
  const double wanted = seconds > 0 ? most_seconds / seconds * static_cast<double>(count) : most_steps;
  const auto fitting = static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(most_steps)));
  at_once = std::min({fitting, count * growth, most_steps});
}

bool Trainer::save_is_due(std::int64_t last_step) const {
  const Every& every = steps_.options().checkpoint_every;
  if (every.seconds > 0) return steady_seconds() - pace_.saved >= every.seconds;
  return state_.step / every.steps > last_step / every.steps;
}

StopReason Trainer::run(TrainingObserver& observer, const LoopActions& actions) {
  pace_.started = steady_seconds() - state_.seconds;
  pace_.running = true;
  pace_.logged = pace_.saved = steady_seconds();
  pace_.samples_logged = rows_seen(steps_, state_.step);
  struct StopClock {
    Trainer& trainer;
    ~StopClock() {
      trainer.state_.seconds = steady_seconds() - trainer.pace_.started;
      trainer.pace_.running = false;
    }
  } stop_clock{*this};

  gives_ = gives_ && actions.saved && !steps_.options().skip_not_finite;
  // From the first step on there is something to save: a signal waits for the poll between steps.
  std::optional<InterruptHold> worth_saving;
  if (state_.step > 0) worth_saving.emplace();
  std::int64_t last_saved = state_.step;
  bool asked_to_save = false;
  try {
    // An epoch that was left between its last step and its metrics.
    if (whole_epochs() > state_.epochs_told) {
      const DoneStep last{state_.step, state_.loss.value_or(0), state_.learning_rate, state_.gradient_norm};
      tell(observer, actions, {&last, 1}, steady_seconds(), false);
    }
    while (state_.step < total_steps() && !has_stopped_early()) {
      poll_interrupt();
      actions.between();
      if (observer.should_stop()) return StopReason::Observer;
      do_steps(observer, actions);
      if (!worth_saving) worth_saving.emplace();
      asked_to_save = take_save_request() || asked_to_save;
      if (!asked_to_save && !save_is_due(last_saved)) continue;
      if (!actions.save()) continue;
      asked_to_save = false;
      last_saved = state_.step;
      pace_.saved = steady_seconds();
    }
    refuse_all_skipped(state_, skipped_);
  } catch (Failure& failure) {
    bring_back(observer, actions);
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
  // Those of the loss are no parameters of the model.
  for (const std::string& name : steps_.function().trained()) {
    const bool listed =
        std::any_of(result.begin(), result.end(), [&](const auto& entry) { return entry.first == name; });
    if (!listed) result.emplace_back(name, values.at(name));
  }
  return result;
}

}  // namespace relish

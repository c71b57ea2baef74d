// The step loop. A trainer goes from step to step and tells what happens; what the steps compute stands in
// steps.h, what lasts between them in state.h.
#pragma once

#include <functional>

#include "runtime/files.h"
#include "train/metric_totals.h"
#include "train/steps.h"

namespace relish {

enum class StopReason : std::uint8_t { Finished, Observer, Interrupted };

// What a loop does beside its steps, between two of them.
struct LoopActions {
  // Receives a logged step, and with it the epoch that it ends.
  std::function<void(const StepReport&, const EpochReport*)> log;
  // A checkpoint is due. The state holds all that was told. False: not now, but as soon as may be.
  std::function<bool()> save;
  // The validation data have not been judged better before.
  std::function<void()> save_best;
  // Between any two steps; for what waits to be done.
  std::function<void()> between;
  // A state of this job that was saved, or its first: what steps were given and lost is had again by the
  // steps behind it. Without it no step is given anything.
  std::function<TrainingState()> saved = nullptr;
};

class Trainer {
 public:
  // Checks options, data and functions against each other and makes the initial state, before any step is
  // done. UsageError, DataError.
  Trainer(Evaluator& evaluator, TrainingProgram program, DataSet data, TrainOptions options);

  // Does the steps that remain. An interrupt ends the loop with the state after the last whole step and is
  // kept in `interrupt()`. NumericStop as soon as the loss, a parameter or a state is not finite: the state
  // stays the one before that step. Other failures of the program pass through.
  StopReason run(TrainingObserver& observer, const LoopActions& actions);

  const TrainingSteps& steps() const { return steps_; }
  const TrainingState& state() const { return state_; }
  // The state as of now, with the seconds that have passed.
  TrainingState snapshot() const;
  // Goes on from a state that was saved.
  void restore(TrainingState state) { state_ = std::move(state); }

  std::int64_t total_steps() const { return steps_.total_steps(); }
  std::int64_t whole_epochs() const { return state_.step / steps_.order().batches_per_epoch(); }
  double seconds() const;
  // Steps that were left out since they were not finite.
  std::int64_t skipped_steps() const {
    return state_.skipped_steps + steps_.function().steps_left_out(state_.optimizer_states);
  }
  // Why early stopping has ended the job, as a clause; empty when it has not.
  std::string early_stop() const;
  // Metrics that an epoch brings, by name.
  const std::vector<std::string>& training_metrics() const { return training_.names; }
  const std::vector<std::string>& validation_metrics() const { return validation_.names; }
  // All parameters of the model that have a value, trained or given, in its order.
  NamedTensors named_parameters(TrainingSteps::Which which = TrainingSteps::Which::Judged) const;
  const std::optional<Failure>& interrupt() const { return interrupt_; }

 private:
  // A step as it is told of.
  struct DoneStep {
    std::int64_t step = 0;  // its number, from 1
    double loss = 0;
    double learning_rate = 0;
    std::optional<double> gradient_norm = std::nullopt;
  };
  // The next steps, as many as one call of the program does, or the next one alone.
  void do_steps(TrainingObserver& observer, const LoopActions& actions);
  // `gives`: the step is given the state's tensors; should it go wrong, it is done again without.
  void do_one(TrainingObserver& observer, const LoopActions& actions, bool gives);
  // The tensors of the state, when a step has lost them: by the steps behind a saved state. A failure leaves
  // that one.
  void bring_back(TrainingObserver& observer, const LoopActions& actions);
  void look_for_zero_gradients(bool no_change);
  void tell_left_out(TrainingObserver& observer, std::int64_t before);
  StepReport report_of(const DoneStep& done, double now);
  void tell(TrainingObserver& observer, const LoopActions& actions, std::span<const DoneStep> done,
            double began, bool fresh);
  bool is_logged(const StepReport& report, bool ends_epoch) const;
  EpochReport finish_epoch(const StepReport& step);
  bool is_best(const Metrics& validation);
  void look_for_end(const Metrics& validation);
  bool has_stopped_early() const;
  void skip_step(TrainingObserver& observer, const Failure& why);
  bool save_is_due(std::int64_t last_step) const;

  TrainingSteps steps_;
  TrainingState state_;
  struct MetricsOfRows {
    std::vector<Metric> specs;
    std::vector<std::string> names;
    std::optional<MetricTotals> totals = std::nullopt;  // where the steps tell them
  };
  MetricsOfRows training_, validation_;
  // Of the last step; and whether steps are given the state's tensors.
  bool zero_gradients_ = false, gives_ = false;
  // Why the loop ended, and why the last step that was left out was.
  std::optional<Failure> interrupt_, skipped_;

  // Seconds of the monotonic clock, for what is said of the pace.
  struct Pace {
    bool running = false;
    bool compiled = false;  // the first step of this process, which is compiled in its time, is done
    double started = 0;     // when the job would have begun, had it run at one stretch
    double logged = 0;      // the last logged step
    double saved = 0;
    double validation = 0;  // that validation took since the last logged step
    std::int64_t samples_logged = 0;
    std::int64_t at_once = 1;  // steps of a call

    void look_at(std::int64_t count, double seconds);
  };
  Pace pace_;
};

}  // namespace relish

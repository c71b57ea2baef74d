// The steps of a program over a data set, each a function of the state before it: the batch, the learning
// rate, the call, and the words for what went wrong in it. Nothing here remembers anything between two steps.
#pragma once

#include "ir/operators/evaluator.h"
#include "runtime/philox.h"
#include "train/accumulation.h"
#include "train/many_steps.h"
#include "train/options.h"
#include "train/state.h"
#include "train/step_function.h"

namespace relish {

// The key from which those of the parameters are folded, apart from those of epochs and steps.
RandomKey parameters_key(std::uint64_t seed);
// The key of the step behind `step` steps, from which the masks of its dropouts are folded.
RandomKey step_key(std::uint64_t seed, std::int64_t step);

class TrainingSteps {
 public:
  // Checks options and data against the functions. UsageError, DataError.
  TrainingSteps(Evaluator& evaluator, TrainingProgram program, DataSet data, TrainOptions options);

  // Before the first step; whoever asks for it again has start values drawn again. UsageError for a parameter
  // without a start value, DataError for values and data that do not fit.
  TrainingState initial_state() const;

  struct Done {
    StepFunction::Results results;
    double loss = 0;         // the shortest number that is the loss in its own type
    double loss_sum = 0;     // what the epoch's loss gets of it
    bool no_change = false;  // neither a parameter nor a mean of gradients moved
  };
  // The step behind `state`. NumericStop when the loss, a parameter or a state becomes NaN or infinite;
  // DataError for a label out of range; other failures of the program pass through.
  Done step(const TrainingState& state, double learning_rate) const;
  // The same, to the bit, by a call that is given the state's tensors. None when something went wrong in it:
  // then `step` says what. The state has its tensors back only where a failure says so.
  std::optional<Done> step_giving(TrainingState& state, double learning_rate) const;

  // NumericStop: the step behind `state` makes what is not finite, and where; the state before it stays.
  // `rule` is that of the message, which opens with `what` and closes with `end`.
  [[noreturn]] void report_not_finite(const TrainingState& state, const char* rule, const std::string& what,
                                      std::string_view end) const;

  // So many steps behind `step` steps can be done by one call, at most `most`: those of an epoch whose
  // batches are of one size. 0 when the program does its steps one by one.
  std::int64_t steps_at_once(std::int64_t step, std::int64_t most) const;
  // `gives`: as in ManySteps::run.
  std::optional<ManySteps::Done> many(TrainingState& state, std::span<const double> learning_rates,
                                      bool gives) const;
  // Seconds that steps have waited for data that stay in files.
  double seconds_waited() const { return windows_ ? windows_->seconds_waited() : 0; }

  // Of the step behind `step` steps.
  double learning_rate_of(std::int64_t step) const;
  bool gradients_are_zero(const TrainingState& state) const;
  Metrics metrics_over(const TrainingState& state, const DataSet& data,
                       const std::vector<Metric>& metrics) const;
  // Values and data against the model, whose parameters the user knows. Metrics are tried on a batch.
  void check_values(const TrainingState& state, const std::vector<Metric>& training_metrics,
                    const std::vector<Metric>& validation_metrics) const;

  const TrainingProgram& program() const { return program_; }
  const StepFunction& function() const { return step_; }
  const TrainOptions& options() const { return options_; }
  const DataSet& data() const { return data_; }
  const BatchOrder& order() const { return order_; }
  std::int64_t batch_size() const { return batch_size_; }
  std::int64_t total_steps() const;
  // Of trained parameters the ones that steps change, or those that are judged and kept in the end: their
  // averages, where the step has these.
  enum class Which : std::uint8_t { Stepped, Judged };
  TensorsByName values_by_name(const TrainingState& state, Which which = Which::Stepped) const;
  // Of the parameters that take the columns: inputs, then targets.
  std::vector<std::string> data_names() const;
  std::string_view tier() const { return evaluator_.name(); }

 private:
  std::vector<Tensor> batch_of(std::int64_t step) const;
  StepFunction::Results results_of(TrainingState& state, double rate, const std::vector<Tensor>& batch,
                                   bool gives) const;
  // The first of the batches that a step joins: what the functions of the model take.
  std::vector<Tensor> first_part(const std::vector<Tensor>& batch) const;
  std::vector<Value> adjoint_arguments(const TrainingState& state, const std::vector<Tensor>& batch) const;

  Evaluator& evaluator_;
  TrainingProgram program_;
  DataSet data_;
  std::vector<Column> columns_;
  TrainOptions options_;
  StepFunction step_;
  mutable TensorsByName start_values_;  // of all parameters that have one, until they are taken
  TensorsByName fixed_parameters_;      // those that no step changes
  ColumnBinding step_binding_;
  std::int64_t batch_size_;
  BatchOrder order_;
  std::optional<Accumulation> accumulation_;
  std::optional<ManySteps> many_;
  mutable std::optional<WindowReader> windows_;  // of data that stay in files
};

}  // namespace relish

// The step loop. A trainer holds the state of a job between steps as values: parameters, optimizer states and
// the step number, from which the place in the data follows. That is all a checkpoint has to keep.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/operators/evaluator.h"
#include "runtime/files.h"
#include "runtime/philox.h"
#include "train/batches.h"
#include "train/evaluate.h"
#include "train/observer.h"
#include "train/program.h"

namespace relish {

// A step is logged every `steps` steps or, when `seconds` is positive, when that much time has gone by. The
// first step of a job, its last one, and the last of every epoch always are.
struct LogEvery {
  std::int64_t steps = 100;
  double seconds = 0;
};

struct TrainOptions {
  std::int64_t epochs = 1;
  std::optional<std::int64_t> steps;       // in place of epochs
  std::optional<std::int64_t> batch_size;  // default: what the function fixes, else 32
  double learning_rate = 0.01;
  std::uint64_t seed = 0;
  bool shuffle = true;
  TensorsByName parameters;           // start values of trained parameters, and values of those not trained
  Span parameters_place = {};         // where they were given
  Span batch_size_place = {};         // the same of the batch size
  std::optional<DataSet> validation;  // looked at after every epoch
  // Over the training rows and over the validation data, whose loss is added when the program has one.
  std::vector<std::string> metrics;
  LogEvery log_every;
};

struct TrainingState {
  std::vector<Tensor> parameters;  // in the order of the program's names
  Value optimizer_states;
  std::int64_t step = 0;      // steps done
  double epoch_loss_sum = 0;  // of the running epoch, as loss_weight has it
};

enum class StopReason : std::uint8_t { Finished, Observer, Interrupted };

// The key from which those of the parameters are folded, apart from those of epochs and steps.
RandomKey parameters_key(std::uint64_t seed);

class Trainer {
 public:
  // Checks options, data and functions against each other and makes the initial state, before any step is
  // done. UsageError, DataError.
  Trainer(Evaluator& evaluator, TrainingProgram program, DataSet data, TrainOptions options);

  // Receives a logged step, and with it the epoch that it ends.
  using Log = std::function<void(const StepReport&, const EpochReport*)>;
  // Does the steps that remain. An interrupt ends the loop with the state after the last whole step and is
  // kept in `interrupt()`. NumericStop as soon as the loss, a parameter or a state is not finite: the state
  // stays the one before that step. Other failures of the program pass through.
  StopReason run(TrainingObserver& observer, const Log& log);

  const TrainingState& state() const { return state_; }
  std::int64_t total_steps() const { return total_steps_; }
  std::int64_t whole_epochs() const { return state_.step / order_.batches_per_epoch(); }
  std::int64_t batch_size() const { return batch_size_; }
  double seconds() const;
  // Metrics that an epoch brings, by name.
  const std::vector<std::string>& training_metrics() const { return training_metrics_; }
  const std::vector<std::string>& validation_metrics() const { return validation_metrics_; }
  // All parameters of the model that have a value, trained or given, in its order.
  NamedTensors named_parameters() const;
  // Parameters of the step that take the columns of the data.
  std::vector<std::string> input_names() const;
  std::vector<std::string> target_names() const;
  std::optional<double> last_loss() const { return last_loss_; }
  const std::optional<EpochReport>& last_epoch() const { return last_epoch_; }
  const std::optional<Failure>& interrupt() const { return interrupt_; }

 private:
  void make_initial_state();
  void check_values() const;
  void check_first_batch();
  std::vector<Tensor> batch_of(std::int64_t step) const;
  // Of the step that follows `step` steps.
  double learning_rate_of(std::int64_t step) const;
  Tensor rate_tensor(double rate) const;
  // Returns the loss.
  double do_step(double rate);
  bool gradients_are_zero(const std::vector<Tensor>& batch, const TensorsByName& parameters) const;
  TensorsByName values_by_name() const;
  Metrics metrics_over(const DataSet& data, const std::vector<std::string>& names) const;
  bool is_logged(const StepReport& report, bool ends_epoch) const;
  EpochReport finish_epoch(const StepReport& step);
  [[noreturn]] void report_not_finite(const std::string& what) const;
  [[noreturn]] void report_not_finite_loss(const std::vector<Tensor>& batch, double loss) const;

  Evaluator& evaluator_;
  TrainingProgram program_;
  DataSet data_;
  std::vector<Tensor> columns_;
  TrainOptions options_;
  ColumnBinding step_binding_;
  std::int64_t batch_size_;
  BatchOrder order_;
  std::int64_t total_steps_ = 0;
  TrainingState state_;
  TensorsByName fixed_parameters_;  // given values of parameters that are not trained
  std::vector<std::string> training_metrics_, validation_metrics_;
  bool zero_gradients_ = false;  // of the last step
  bool looks_for_zero_ = true;   // until a step changed nothing
  std::optional<double> last_loss_;
  std::optional<EpochReport> last_epoch_;
  std::optional<Failure> interrupt_;
  // Seconds of the monotonic clock.
  bool running_ = false;
  double started_ = 0;
  double seconds_ = 0;  // of the job so far, while it does not run
  double last_logged_ = 0;
  double validation_seconds_ = 0;  // since the last logged step
  std::int64_t samples_ = 0;
  std::int64_t samples_logged_ = 0;
};

}  // namespace relish

// The state of a job between two steps: all that decides what comes behind it, and what was told so far. The
// place in the data and all random numbers follow from the number of the step. A checkpoint holds this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/value.h"
#include "train/observer.h"

namespace relish {

// The best of the validation data so far.
struct BestSoFar {
  double value = 0;
  std::int64_t step = 0;
};

// What the tensors of a state are called.
struct StateNames {
  std::vector<std::string> trained, buffers;
};

// How early stopping sees the validation data.
struct StoppingState {
  double best = 0;
  std::int64_t epochs_without = 0;  // that were not better
};

struct TrainingState {
  std::vector<Tensor> parameters;  // the trained ones, in the order of the step's names
  std::vector<Tensor> buffers;     // the running statistics, likewise
  std::vector<Tensor> averages;    // moving averages of the parameters; none when the step keeps none
  Value optimizer_states;
  std::int64_t step = 0;            // steps done
  double epoch_loss_sum = 0;        // of the running epoch, as loss_weight has it
  std::vector<double> metric_sums;  // of the running epoch, as MetricTotals has them; empty: none yet
  // The last step, as it was told: its loss (none before the first) and its learning rate.
  std::optional<double> loss;
  double learning_rate = 0;
  std::optional<double> gradient_norm;
  std::int64_t epochs_told = 0;           // whole epochs whose metrics were taken
  std::optional<EpochReport> last_epoch;  // the last of them
  std::optional<BestSoFar> best;
  std::optional<StoppingState> stopping;
  std::int64_t skipped_steps = 0;  // steps that were left out, since they were not finite
  std::int64_t skipped_rows = 0;   // their rows in the running epoch
  bool looks_for_zero = true;      // no step has changed anything yet
  double seconds = 0;              // that the job has run, over all its processes

  // A step that was given the tensors has not given them back.
  bool gave_tensors() const { return optimizer_states.is_void(); }
};

}  // namespace relish

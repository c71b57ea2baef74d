// What a job is told beside its program and its data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/batches.h"
#include "train/metrics.h"
#include "train/program.h"

namespace relish {

// Something that is done every `steps` steps or, when `seconds` is positive, when that much time has gone by.
struct Every {
  std::int64_t steps = 0;
  double seconds = 0;

  bool never() const { return steps == 0 && seconds == 0; }
};

// A job ends when the metric of the validation data has not become better by more than `min_delta` for so
// many epochs.
struct EarlyStopping {
  std::string metric;
  std::int64_t patience = 5;
  double min_delta = 0;
};

// Rows of a step where neither the options nor the function say how many; all of fewer.
inline constexpr std::int64_t default_batch_size = 32;

struct TrainOptions {
  std::int64_t epochs = 1;
  std::optional<std::int64_t> steps;       // in place of epochs
  std::optional<std::int64_t> batch_size;  // default: what the function fixes, else 32
  std::int64_t accumulate = 1;             // batches of a step, whose gradients are joined as of one batch
  double learning_rate = 0.01;
  std::uint64_t seed = 0;
  bool shuffle = true;
  TensorsByName parameters;           // start values of trained parameters, and values of those not trained
  Span parameters_place = {};         // where they were given
  Span batch_size_place = {};         // the same of the batch size
  std::optional<DataSet> validation;  // looked at after every epoch
  // Over the training rows and over the validation data, whose loss is added when the program has one.
  std::vector<Metric> metrics;
  // The first step of a job, its last one, and the last of every epoch are logged always.
  Every log_every = {100, 0};  // never: only the ends of epochs are logged, and no line is printed
  Every checkpoint_every = {0, 60};
  std::optional<EarlyStopping> early_stopping;  // needs validation data and the metric among theirs
  // A step whose loss, parameters or states are not finite is left out and counted, where it would end the
  // job.
  bool skip_not_finite = false;
  // A schedule whose own lengths add up to more steps than the job may have, as it was written.
  struct ScheduleLength {
    std::string text;
    std::int64_t steps = 0;
  };
  std::optional<ScheduleLength> schedule;
  // Options that decided what the functions are, as text by name: for the identity of the job.
  std::map<std::string, std::string> function_options = {};
};

}  // namespace relish

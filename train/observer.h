// What a training job tells while it runs. The shell turns reports into a live line or log lines; the run
// folder writes them down. A report is made after its step, and no observer changes what is computed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace relish {

// Metrics by name ("loss", "accuracy").
using Metrics = std::map<std::string, double>;

// After a step. Steps and epochs count from 1.
struct StepReport {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::int64_t total_steps = 0;
  std::int64_t total_epochs = 0;  // 0 when the job is counted in steps
  double loss = 0;                // of this step's batch, before its update
  double learning_rate = 0;
  std::optional<double> gradient_norm;  // of all gradients together, when it was asked for
  std::int64_t samples = 0;             // seen since the start of the job
  double samples_per_second = 0;        // since the last logged step, without validation; 0: unknown
  double seconds = 0;                   // since the start of the job
  bool logged = false;                  // this step is written to the metrics of the run
};

// After the last step of an epoch.
struct EpochReport {
  StepReport step;                    // the last step of the epoch
  double loss = 0;                    // mean over the rows of the epoch
  Metrics metrics;                    // over the training rows, those that were asked for
  std::optional<Metrics> validation;  // over the validation data, when there is some
};

class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  // Before the first step: the names of what is trained, of the inputs and of the targets.
  virtual void on_start(const std::vector<std::string>&, const std::vector<std::string>&,
                        const std::vector<std::string>&) {}
  // A warning or note about the job, a line.
  virtual void on_note(const std::string&) {}
  // Once, behind the first step of a job whose gradients are all 0.
  virtual void on_zero_gradients(std::int64_t) {}
  virtual void on_step(const StepReport&) {}
  virtual void on_epoch(const EpochReport&) {}
  // Asked before every step: true ends the job there, with its results so far.
  virtual bool should_stop() { return false; }
};

}  // namespace relish

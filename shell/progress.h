// The terminal's side of a training job: a line for each logged step and epoch, the same wherever the job
// runs, and on a terminal a live line between them.
#pragma once

#include <chrono>

#include "shell/session.h"
#include "train/observer.h"

namespace relish {

class TrainingProgress : public TrainingObserver {
 public:
  explicit TrainingProgress(Session& session);
  ~TrainingProgress() override;

  void on_step(const StepReport& report) override;
  void on_epoch(const EpochReport& report) override;

 private:
  void print(const std::string& line);
  void erase_live_line();

  Session& session_;
  bool live_;  // standard error is a terminal
  bool line_shown_ = false;
  std::chrono::steady_clock::time_point shown_at_{};
};

// "0.4321": six significant digits, the number of a loss line.
std::string loss_text(double loss);

}  // namespace relish

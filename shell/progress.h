// The terminal's side of a training job: lines of logged steps and epochs, and on a terminal a live line
// between them. A short job prints every line, the same wherever and whenever it runs; one that has printed
// `most_lines_at_once` prints one a second, and never more than `most_lines_of_a_kind` in all, so that the
// log of a month is read like that of a minute. What the user asks for by log_every holds instead, for all
// lines.
#pragma once

#include <optional>

#include "shell/session.h"
#include "train/observer.h"
#include "train/trainer.h"

namespace relish {

class TrainingProgress : public TrainingObserver {
 public:
  // `asked`: how often the user wants to see a line, if said.
  TrainingProgress(Session& session, std::optional<Every> asked);
  ~TrainingProgress() override;

  void on_start(const std::vector<std::string>& trained, const std::vector<std::string>& inputs,
                const std::vector<std::string>& targets) override;
  void on_note(const std::string& text) override;
  void on_zero_gradients(std::int64_t step) override;
  void on_step(const StepReport& report) override;
  void on_epoch(const EpochReport& report) override;

 private:
  // Whether the line is due: `step` and `seconds` say when it is, `last` when the line of its kind before it
  // was printed.
  struct Printed {
    std::int64_t step = 0;
    double seconds = 0;
  };
  bool due(const StepReport& report, Printed& last);
  void print(const std::string& line);
  std::string live_line(const StepReport& report) const;

  Session& session_;
  bool live_;  // standard error is a terminal
  std::optional<Every> asked_;
  Printed last_step_, last_epoch_;
  int lines_ = 0;          // that may still be printed at once
  double line_since_ = 0;  // seconds of the job; since then they grow, by one a second
  bool told_ = false;      // that lines are left out
  bool line_shown_ = false;
  double shown_at_ = 0;                   // seconds of the job at the live line before
  std::optional<StepReport> first_step_;  // of this process, which holds compiling; the pace counts from it
  std::string metric_;                    // of the last epoch, as the live line shows it
};

inline constexpr int most_lines_at_once = 60;
inline constexpr std::int64_t most_lines_of_a_kind = 4000;

// "0.4321": six significant digits, the number of a loss line.
std::string loss_text(double loss);

}  // namespace relish

// Loss lines and the live line. Loss lines hold nothing that depends on the clock; times stand on the live
// line and in the metrics of the run folder.
#include "shell/progress.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "support/render.h"
#include "train/report/run_record.h"

namespace relish {
namespace {

constexpr double live_interval = 0.1, line_interval = 1;  // seconds
constexpr int loss_digits = 6;
constexpr std::size_t most_names = 20;  // in a line

// Memory that the process has in use, in MiB; 0 where the system does not say.
std::int64_t resident_mebibytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  if (!(file >> all >> resident)) return 0;
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  return resident * sysconf(_SC_PAGESIZE) / mebibyte;
}

// The value of an epoch by which the job is judged: of the validation data before that of the training rows,
// one that was asked for before the loss.
std::string judged_value(const EpochReport& report) {
  std::string text;
  for (const auto& [name, value] : report.metrics) {
    if (text.empty()) text = fmt::format(" {} {}", name, loss_text(value));
  }
  if (!report.validation || report.validation->empty()) return text;
  auto shown = report.validation->begin();
  for (auto at = shown; at != report.validation->end() && shown->first == "loss"; ++at)
    if (at->first != "loss") shown = at;
  return fmt::format(" validation {} {}", shown->first, loss_text(shown->second));
}

std::string name_list(const std::vector<std::string>& names) {
  const std::size_t shown = names.size() <= most_names ? names.size() : most_names - 1;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace

std::string loss_text(double loss) { return short_number(loss); }

TrainingProgress::TrainingProgress(Session& session, std::optional<Every> asked)
    : session_(session), live_(has_live_line()), asked_(asked), lines_(most_lines_at_once) {}

TrainingProgress::~TrainingProgress() { clear_live_line(); }

bool TrainingProgress::due(const StepReport& report, Printed& last) {
  const bool ends = report.step == report.total_steps;
  const Printed now{report.step, report.seconds};
  if (asked_ && asked_->never()) return false;
  if (asked_) {
    // A line of each kind for so many steps; the first and the last step have theirs.
    const bool passed = asked_->seconds > 0 ? report.seconds - last.seconds >= asked_->seconds
                                            : report.step / asked_->steps > last.step / asked_->steps;
    if (!passed && !ends && report.step > 1) return false;
    last = now;
    return true;
  }
  if (report.seconds - line_since_ >= line_interval) {
    line_since_ = report.seconds;
    lines_ = std::min(lines_ + 1, most_lines_at_once);
  }
  if (report.step - last.step < report.total_steps / most_lines_of_a_kind && !ends && report.step > 1)
    return false;
  if (lines_ == 0 && !ends) {
    if (!told_) {
      write_error_text(
          "one line a second from here; log_every (--log-every) chooses, metrics.jsonl has every logged step\n");
    }
    told_ = true;
    return false;
  }
  if (lines_ > 0) --lines_;
  last = now;
  return true;
}

void TrainingProgress::print(const std::string& line) {
  clear_live_line();
  line_shown_ = false;
  session_.print(line);
  session_.output().flush();
}

// On standard error, with the other things that are said about a job and are no results of it.
void TrainingProgress::on_start(const std::vector<std::string>& trained,
                                const std::vector<std::string>& inputs,
                                const std::vector<std::string>& targets) {
  std::string text = "trains " + name_list(trained);
  // A model that gives its loss itself has no targets.
  if (!inputs.empty()) text += "; inputs " + name_list(inputs);
  if (!targets.empty()) text += "; targets " + name_list(targets);
  write_error_text(text + "\n");
}

// A note names folders and files, whose names may hold anything.
void TrainingProgress::on_note(const std::string& text) {
  write_error_text(printable(text, text.size()) + "\n");
}

void TrainingProgress::on_zero_gradients(std::int64_t step) {
  write_error_text(fmt::format(
      "note: step {}: all gradients are 0, so nothing is learned; see the start values (init, params) and "
      "the model\n",
      step));
}

void TrainingProgress::on_step(const StepReport& report) {
  if (report.logged && due(report, last_step_)) {
    print(fmt::format("step {} epoch {} loss {}", report.step, report.epoch, loss_text(report.loss)));
  }
  if (!first_step_) first_step_ = report;
  const bool due_again = !line_shown_ || report.seconds - shown_at_ >= live_interval;
  if (!live_ || !due_again) return;
  shown_at_ = report.seconds;
  show_live_line(live_line(report));
  line_shown_ = true;
}

// What matters least stands last, where a narrow terminal cuts it off.
std::string TrainingProgress::live_line(const StepReport& report) const {
  const double share =
      report.total_steps > 0 ? static_cast<double>(report.step) / static_cast<double>(report.total_steps) : 0;
  std::string line = fmt::format("{:3.0f}% step {}/{} loss {}{}", 100 * share, report.step,
                                 report.total_steps, loss_text(report.loss), metric_);
  // The pace of this process behind its first step, also when it goes on where another stopped.
  const double seconds = report.seconds - first_step_->seconds;
  const std::int64_t steps = report.step - first_step_->step;
  if (steps > 0 && seconds > 0) {
    const double rate = static_cast<double>(report.samples - first_step_->samples) / seconds;
    const double left = seconds / static_cast<double>(steps) *
                        static_cast<double>(std::max<std::int64_t>(report.total_steps - report.step, 0));
    line += fmt::format(" {:.0f} samples/s {} left", rate, duration_text(left));
  }
  if (const std::int64_t memory = resident_mebibytes(); memory > 0) line += fmt::format(" {} MiB", memory);
  return line;
}

void TrainingProgress::on_epoch(const EpochReport& report) {
  metric_ = judged_value(report);
  if (!due(report.step, last_epoch_)) return;
  std::string line = fmt::format("epoch {} mean loss {}", report.step.epoch, loss_text(report.loss));
  for (const auto& [name, value] : report.metrics) line += fmt::format(" {} {}", name, loss_text(value));
  if (report.validation) {
    for (const auto& [name, value] : *report.validation)
      line += fmt::format(" validation {} {}", name, loss_text(value));
  }
  print(line);
}

}  // namespace relish

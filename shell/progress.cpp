// Loss lines and the live line. Loss lines hold nothing that depends on the clock; times stand on the live
// line and in the metrics of the run folder.
#include "shell/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace relish {
namespace {

constexpr auto live_interval = std::chrono::milliseconds(100);
constexpr auto line_interval = std::chrono::seconds(1);
constexpr int loss_digits = 6;
constexpr std::size_t most_names = 20;  // in a line

bool terminal_for_live_line() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) && kind && std::string_view(kind) != "dumb";
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f}s", seconds);
  return fmt::format("{:.0f}m{:02.0f}s", std::floor(seconds / 60), std::floor(std::fmod(seconds, 60)));
}

std::string name_list(const std::vector<std::string>& names) {
  const std::size_t shown = names.size() <= most_names ? names.size() : most_names - 1;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace

std::string loss_text(double loss) {
  if (std::isnan(loss)) return "nan";
  if (std::isinf(loss)) return loss < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, loss, std::chars_format::general, loss_digits).ptr;
  return std::string(buffer, end);
}

TrainingProgress::TrainingProgress(Session& session, std::optional<Every> asked)
    : session_(session),
      live_(terminal_for_live_line()),
      asked_(asked),
      lines_(most_lines_at_once),
      line_since_(Clock::now()) {}

TrainingProgress::~TrainingProgress() { erase_live_line(); }

void TrainingProgress::erase_live_line() {
  if (line_shown_) write_error_text("\r\x1b[K");
  line_shown_ = false;
}

bool TrainingProgress::due(const StepReport& report, Printed& last) {
  const bool ends = report.step == report.total_steps;
  const Printed now{report.step, report.seconds};
  if (asked_) {
    // A line of each kind for so many steps; the first and the last step have theirs.
    const bool passed = asked_->seconds > 0 ? report.seconds - last.seconds >= asked_->seconds
                                            : report.step / asked_->steps > last.step / asked_->steps;
    if (!passed && !ends && report.step > 1) return false;
    last = now;
    return true;
  }
  if (Clock::now() - line_since_ >= line_interval) {
    line_since_ = Clock::now();
    lines_ = std::min(lines_ + 1, most_lines_at_once);
  }
  if (lines_ == 0 && !ends) {
    if (!told_) {
      erase_live_line();
      write_error_text(
          "one line a second from here; --log-every chooses, metrics.jsonl has every logged step\n");
    }
    told_ = true;
    return false;
  }
  if (lines_ > 0) --lines_;
  last = now;
  return true;
}

void TrainingProgress::print(const std::string& line) {
  erase_live_line();
  session_.print(line);
  session_.output().flush();
}

// On standard error, with the other things that are said about a job and are no results of it.
void TrainingProgress::on_start(const std::vector<std::string>& trained,
                                const std::vector<std::string>& inputs,
                                const std::vector<std::string>& targets) {
  write_error_text(fmt::format("trains {}; inputs {}; targets {}\n", name_list(trained), name_list(inputs),
                               name_list(targets)));
}

void TrainingProgress::on_note(const std::string& text) {
  erase_live_line();
  write_error_text(text + "\n");
}

void TrainingProgress::on_zero_gradients(std::int64_t step) {
  erase_live_line();
  write_error_text(fmt::format(
      "note: step {}: all gradients are 0, so nothing is learned; see the start values (init, params) and "
      "the model\n",
      step));
}

void TrainingProgress::on_step(const StepReport& report) {
  if (report.logged && due(report, last_step_)) {
    print(fmt::format("step {} epoch {} loss {}", report.step, report.epoch, loss_text(report.loss)));
  }
  auto now = Clock::now();
  if (!live_ || now - shown_at_ < live_interval) return;
  shown_at_ = now;
  double done =
      report.total_steps > 0 ? static_cast<double>(report.step) / static_cast<double>(report.total_steps) : 0;
  double left = done > 0 ? report.seconds / done - report.seconds : 0;
  std::string line = fmt::format(
      "{:3.0f}% step {}/{} loss {} {:.0f} samples/s {} left", 100 * done, report.step, report.total_steps,
      loss_text(report.loss), report.seconds > 0 ? static_cast<double>(report.samples) / report.seconds : 0.0,
      duration_text(left));
  line.resize(std::min(line.size(), terminal_width() - 1));
  write_error_text("\r" + line + "\x1b[K");
  line_shown_ = true;
}

void TrainingProgress::on_epoch(const EpochReport& report) {
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

// Loss lines and the live line. Loss lines hold nothing that depends on the clock, so that a job prints the
// same lines every time; times stand on the live line and in the metrics of the run folder.
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
constexpr int loss_digits = 6;

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

}  // namespace

std::string loss_text(double loss) {
  if (std::isnan(loss)) return "nan";
  if (std::isinf(loss)) return loss < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, loss, std::chars_format::general, loss_digits).ptr;
  return std::string(buffer, end);
}

TrainingProgress::TrainingProgress(Session& session) : session_(session), live_(terminal_for_live_line()) {}

TrainingProgress::~TrainingProgress() { erase_live_line(); }

void TrainingProgress::erase_live_line() {
  if (line_shown_) write_error_text("\r\x1b[K");
  line_shown_ = false;
}

void TrainingProgress::print(const std::string& line) {
  erase_live_line();
  session_.print(line);
  session_.output().flush();
}

void TrainingProgress::on_step(const StepReport& report) {
  if (report.logged) {
    print(fmt::format("step {} epoch {} loss {}", report.step, report.epoch, loss_text(report.loss)));
  }
  auto now = std::chrono::steady_clock::now();
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
  std::string line = fmt::format("epoch {} mean loss {}", report.step.epoch, loss_text(report.loss));
  if (report.validation) {
    for (const auto& [name, value] : *report.validation)
      line += fmt::format(" validation {} {}", name, loss_text(value));
  }
  print(line);
}

}  // namespace relish

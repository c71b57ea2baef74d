// Output, engines and start-up of a session.
#include "shell/session.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "interp/interpreter.h"
#include "jit/jit.h"
#include "jit/object_store.h"
#include "runtime/program_output.h"
#include "shell/program/pager.h"
#include "support/failure.h"
#include "support/interrupt.h"
#include "support/render_within.h"
#include "support/suggest.h"

namespace relish {
namespace {

// What was printed and not yet written: one buffer a process, where a signal's last words find it.
constexpr std::size_t output_buffer_bytes = 1 << 16;
char output_buffer[output_buffer_bytes];
std::atomic<std::size_t> output_begin{0};
std::atomic<std::size_t> output_end{0};

// Whether the terminal's last line says how far something is.
std::atomic<bool> live_line_shown{false};

// Never throws: what a signal stops here, the next poll tells.
void write_standard_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (!text.empty() && (leaving() || interrupt_flag.load(std::memory_order_relaxed) != 0)) return;
  }
}

void write_last_words() {
  const std::size_t begin = output_begin.load();
  write_without_waiting(STDOUT_FILENO, output_buffer + begin, output_end.load() - begin);
}

}  // namespace

StandardOutput::StandardOutput() { set_last_words(write_last_words); }

void StandardOutput::write(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = output_end.load();
    const std::size_t part = std::min(text.size(), output_buffer_bytes - end);
    std::memcpy(output_buffer + end, text.data(), part);
    output_end.store(end + part);
    text.remove_prefix(part);
    if (end + part == output_buffer_bytes) flush();
  }
}

void StandardOutput::flush() {
  if (output_begin.load() < output_end.load()) clear_live_line();
  while (output_begin.load() < output_end.load()) {
    const std::size_t begin = output_begin.load();
    const ssize_t written = ::write(STDOUT_FILENO, output_buffer + begin, output_end.load() - begin);
    const int error = written < 0 ? errno : 0;
    if (written > 0) output_begin.store(begin + static_cast<std::size_t>(written));
    if (output_begin.load() == output_end.load()) break;
    const bool woken = error == EINTR || error == 0;
    if (woken) poll_interrupt();
    if (woken && !leaving()) continue;
    // Nothing more goes there.
    output_begin.store(0);
    output_end.store(0);
    if (woken) return;
    if (error == EPIPE || error == EBADF)
      fail(ErrorClass::IO, {}, closed_output_id, "standard output is closed");
    fail_at(ErrorClass::IO, "<stdout>", "output.write",
            fmt::format("cannot write: {}", std::strerror(error)));
  }
  output_begin.store(0);
  output_end.store(0);
}

void write_error_text(std::string_view text) {
  clear_live_line();
  write_standard_error(text);
}

bool has_live_line() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) && kind && std::string_view(kind) != "dumb";
}

void show_live_line(std::string line) {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  line.resize(std::min<std::size_t>(line.size(), (known ? size.ws_col : 80) - 1));
  write_standard_error("\r" + line + "\x1b[K");
  live_line_shown = true;
}

void clear_live_line() {
  if (live_line_shown.exchange(false)) write_standard_error("\r\x1b[K");
}

Session::Session(Settings settings, std::unique_ptr<Output> output)
    : settings_(std::move(settings)),
      output_(output ? std::move(output) : std::unique_ptr<Output>(std::make_unique<StandardOutput>())) {}

Session::~Session() { detach_program_output(this); }

void Session::print(std::string_view line) {
  if (goes_to_pager(line)) {
    output_->flush();
    if (shown_by_pager(line)) return;
  }
  output_->write(line);
  output_->write("\n");
}

void Session::report(const Diagnostic& diagnostic) { report(std::vector<Diagnostic>{diagnostic}); }

// Of the terminal that errors go to; wide where they go elsewhere.
static std::size_t error_columns() {
  winsize size{};
  const bool known = ::isatty(STDERR_FILENO) && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? size.ws_col : SIZE_MAX;
}

void Session::report(const std::vector<Diagnostic>& diagnostics) {
  if (diagnostics.empty() || settings_.quiet) return;
  RenderOptions options;
  options.color = settings_.color;
  write_error_text(render_within(error_columns(), diagnostics, Sources::instance(), options));
}

const std::shared_ptr<ObjectStore>& Session::objects() {
  if (!objects_ && !settings_.cache_folder.empty())
    objects_ = std::make_shared<ObjectStore>(settings_.cache_folder);
  return objects_;
}

Evaluator& Session::evaluator() { return evaluator(settings_.tier); }

Evaluator& Session::evaluator(std::string_view tier) {
  // Who takes an engine runs a program next: its lines go to this session.
  attach_program_output(this, [this](std::string_view line) { print(line); });
  if (tier == "interp") {
    if (!interpreter_)
      interpreter_ = settings_.make_interpreter ? settings_.make_interpreter() : make_interpreter();
    return *interpreter_;
  }
  if (tier == "jit") {
    std::unique_ptr<Evaluator>& jit = jits_[settings_.threads];
    if (!jit) {
      JitOptions options;
      options.threads = settings_.threads;
      options.objects = objects();
      jit = make_jit(options);
    }
    return *jit;
  }
  static const std::vector<std::string> tiers = {"interp", "jit"};
  fail(
      ErrorClass::Usage, {}, "option.tier",
      fmt::format("unknown tier '{}'; expected interp or jit{}", printable(tier), did_you_mean(tier, tiers)));
}

}  // namespace relish

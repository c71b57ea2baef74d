// Output, engines and start-up of a session.
#include "shell/session.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "interp/interpreter.h"
#include "jit/jit.h"
#include "runtime/program_output.h"
#include "support/failure.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

constexpr std::size_t output_buffer_bytes = 1 << 16;

// Writes all of it; the error number, or 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void StandardOutput::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= output_buffer_bytes) flush();
}

void StandardOutput::flush() {
  if (buffer_.empty()) return;
  std::string text = std::move(buffer_);
  buffer_.clear();
  int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE || error == EBADF)
    fail(ErrorClass::IO, {}, closed_output_id, "standard output is closed");
  if (error != 0) {
    fail_at(ErrorClass::IO, "<stdout>", "output.write",
            fmt::format("cannot write: {}", std::strerror(error)));
  }
}

void write_error_text(std::string_view text) { write_all(STDERR_FILENO, text); }

Session::Session(Settings settings, std::unique_ptr<Output> output)
    : settings_(std::move(settings)),
      output_(output ? std::move(output) : std::unique_ptr<Output>(std::make_unique<StandardOutput>())) {}

Session::~Session() { detach_program_output(this); }

void Session::print(std::string_view line) {
  output_->write(line);
  output_->write("\n");
}

void Session::report(const Diagnostic& diagnostic) { report(std::vector<Diagnostic>{diagnostic}); }

void Session::report(const std::vector<Diagnostic>& diagnostics) {
  if (diagnostics.empty()) return;
  RenderOptions options;
  options.color = settings_.color;
  write_error_text(render(diagnostics, Sources::instance(), options));
}

Evaluator& Session::evaluator() { return evaluator(settings_.tier); }

Evaluator& Session::evaluator(std::string_view tier) {
  // Who takes an engine runs a program next: its lines go to this session.
  attach_program_output(this, [this](std::string_view line) { print(line); });
  if (tier == "interp") {
    if (!interpreter_) interpreter_ = make_interpreter();
    return *interpreter_;
  }
  if (tier == "jit") {
    if (!jit_) {
      JitOptions options;
      options.threads = settings_.threads;
      jit_ = make_jit(options);
    }
    return *jit_;
  }
  static const std::vector<std::string> tiers = {"interp", "jit"};
  fail(
      ErrorClass::Usage, {}, "option.tier",
      fmt::format("unknown tier '{}'; expected interp or jit{}", printable(tier), did_you_mean(tier, tiers)));
}

}  // namespace relish

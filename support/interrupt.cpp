// Signal handlers that only set a flag; work stops where it polls.
#include "support/interrupt.h"

#include <unistd.h>
#include <csignal>

#include "support/failure.h"

namespace relish {

std::atomic<std::int32_t> interrupt_flag{0};

namespace {

static_assert(std::atomic<std::int32_t>::is_always_lock_free, "the handler may only use lock-free atomics");

// One bit a signal that has been seen and not yet been acted upon.
std::atomic<std::uint32_t> pending_signals{0};

extern "C" void on_interrupt_signal(int signal_number) {
  std::uint32_t bit = 1u << signal_number;
  if (pending_signals.fetch_or(bit) & bit) _exit(128 + signal_number);
  interrupt_flag.store(signal_number, std::memory_order_relaxed);
}

std::string_view signal_name(int signal_number) {
  switch (signal_number) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "a signal";
  }
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt_signal;
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART, so that a blocking read ends and its caller can poll.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A program started by nohup goes on ignoring SIGHUP.
  struct sigaction inherited = {};
  if (sigaction(SIGHUP, nullptr, &inherited) != 0 || inherited.sa_handler != SIG_IGN) {
    sigaction(SIGHUP, &action, nullptr);
  }
  // Writes to a closed pipe or beyond the file size limit then fail with an error that can be reported.
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGPIPE, &ignore, nullptr);
  sigaction(SIGXFSZ, &ignore, nullptr);
}

void clear_interrupt() {
  interrupt_flag.store(0, std::memory_order_relaxed);
  pending_signals.store(0);
}

void poll_interrupt(Span span) {
  std::int32_t signal_number = interrupt_flag.load(std::memory_order_relaxed);
  if (signal_number == 0) return;
  clear_interrupt();
  Diagnostic diagnostic;
  diagnostic.error_class = ErrorClass::Interrupted;
  diagnostic.span = span;
  diagnostic.message = fmt::format("stopped by {}", signal_name(signal_number));
  Failure failure(std::move(diagnostic));
  failure.set_exit_code(128 + signal_number);
  throw failure;
}

}  // namespace relish

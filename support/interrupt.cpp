// Signal handlers set a flag and start a timer. Each tick wakes the working thread from the system call that
// it may wait in (a signal may come just before one begins, and goes to any thread); the last tick ends a
// process that is to end. Everything in a handler is async-signal-safe.
#include "support/interrupt.h"

#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstring>
#include <utility>

#include "support/failure.h"
#include "support/input_waits.h"
#include "support/unfinished_files.h"

namespace relish {

std::atomic<std::int32_t> interrupt_flag{0};

namespace {

static_assert(std::atomic<std::int32_t>::is_always_lock_free, "the handler may only use lock-free atomics");

constexpr int tick_milliseconds = 25;
constexpr int last_tick = most_milliseconds_to_end / tick_milliseconds;

// One bit a signal that has been seen and not yet been acted upon.
std::atomic<std::uint32_t> pending_signals{0};
// The last signal that asked, also when it was obeyed.
std::atomic<std::int32_t> asked_signal{0};
std::atomic<std::int32_t> ticks{0};
std::atomic<std::int32_t> holds{0};
std::atomic<std::int32_t> input_waits{0};
thread_local int shields = 0;
std::atomic<bool> save_asked{false};
std::atomic<std::int64_t> asked_at_milliseconds{0};
std::atomic<std::int32_t> working_thread{0};
std::atomic<bool> process_ends{false};
std::atomic<bool> sigint_ends{false};
std::atomic<bool> obeyed{false};
std::atomic<bool> told{false};
std::atomic<bool> timer_made{false};
std::atomic<void (*)()> last_words{nullptr};
timer_t timer{};
timer_t limit_timer{};
std::atomic<bool> limit_timer_made{false};
// Of the thread that works; handlers never touch it.
std::string noted;

bool ends_process(int signal_number) {
  return process_ends.load() && (signal_number != SIGINT || sigint_ends.load());
}

const char* signal_name(int signal_number) {
  switch (signal_number) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    case SIGXCPU:
      return "the time limit";
    default:
      return "a signal";
  }
}

void set_timer(int milliseconds) {
  if (!timer_made.load()) return;
  itimerspec time = {};
  time.it_interval.tv_nsec = milliseconds * 1000000L;
  time.it_value = time.it_interval;
  timer_settime(timer, 0, &time, nullptr);
}

void wake_working_thread() {
  const pid_t thread = working_thread.load();
  if (thread != 0 && thread != static_cast<pid_t>(syscall(SYS_gettid)))
    syscall(SYS_tgkill, getpid(), thread, SIGALRM);
}

// Ends the process from a handler: no half-written file stays, and nothing is waited for.
[[noreturn]] void leave(int signal_number) {
  remove_unfinished_files();
  if (auto* write = last_words.load()) write();
  if (!told.load()) {
    char line[80] = "relish: error[";
    std::strcat(line, signal_number == SIGXCPU ? "TimeLimit" : "Interrupted");
    std::strcat(line, "]: stopped by ");
    std::strcat(line, signal_name(signal_number));
    std::strcat(line, "\n");
    write_without_waiting(STDERR_FILENO, line, std::strlen(line));
  }
  _exit(exit_code_of_signal(signal_number));
}

std::int64_t monotonic_milliseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

extern "C" void on_interrupt_signal(int signal_number) {
  const int error = errno;
  const std::uint32_t bit = 1u << signal_number;
  const std::int64_t now = monotonic_milliseconds();
  if (pending_signals.fetch_or(bit) & bit) {
    const bool dropped = signal_number == SIGINT && input_waits.load() > 0;
    if (!dropped && now - asked_at_milliseconds.load() >= same_signal_milliseconds) leave(signal_number);
    errno = error;
    return;
  }
  asked_at_milliseconds.store(now);
  interrupt_flag.store(signal_number, std::memory_order_relaxed);
  asked_signal.store(signal_number);
  ticks.store(0);
  set_timer(tick_milliseconds);
  wake_working_thread();
  errno = error;
}

extern "C" void on_save_signal(int) { save_asked.store(true); }

// A tick of the timer; or only the waking of a thread, which is done when this returns.
extern "C" void on_tick(int, siginfo_t* information, void*) {
  if (information->si_code != SI_TIMER) return;
  const int error = errno;
  wake_working_thread();
  const std::int32_t passed = holds.load() > 0 ? 0 : ticks.load() + 1;
  ticks.store(passed);
  // A tick may come when what asked for it was obeyed and is forgotten.
  const std::int32_t asked = asked_signal.load();
  if (asked != 0 && passed >= last_tick && ends_process(asked)) leave(asked);
  errno = error;
}

bool inherits_ignored(int signal_number) {
  struct sigaction inherited = {};
  return sigaction(signal_number, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
}

// One that came while it was blocked, before anything was there to hear it, is heard now.
void hear(int signal_number, const struct sigaction& action) {
  sigaction(signal_number, &action, nullptr);
  sigset_t heard;
  sigemptyset(&heard);
  sigaddset(&heard, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &heard, nullptr);
}

void make_timer() {
  struct sigaction action = {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  if (!timer_made.load()) timer_made.store(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
}

}  // namespace

void install_signal_handlers() {
  working_thread.store(static_cast<std::int32_t>(syscall(SYS_gettid)));
  make_timer();
  struct sigaction action = {};
  action.sa_handler = on_interrupt_signal;
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART, so that a blocking read ends and its caller can poll. A program started by nohup goes
  // on ignoring SIGHUP, one in the background of a script SIGINT.
  for (int signal_number : {SIGINT, SIGTERM, SIGHUP})
    if (!inherits_ignored(signal_number)) hear(signal_number, action);
  sigaction(SIGXCPU, &action, nullptr);
  struct sigaction save = {};
  save.sa_handler = on_save_signal;
  save.sa_flags = SA_RESTART;
  sigemptyset(&save.sa_mask);
  // Also where it was ignored: that keeps a request from ending a program that is just being loaded.
  hear(SIGUSR1, save);
  // Writes to a closed pipe or beyond the file size limit then fail with an error that can be reported.
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGPIPE, &ignore, nullptr);
  sigaction(SIGXFSZ, &ignore, nullptr);
}

void signals_end_process(bool sigint_too) {
  sigint_ends.store(sigint_too);
  process_ends.store(true);
}

void end_after(double seconds) {
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGXCPU;
  if (!limit_timer_made.load())
    limit_timer_made.store(timer_create(CLOCK_MONOTONIC, &event, &limit_timer) == 0);
  if (!limit_timer_made.load())
    fail(ErrorClass::ResourceLimit, {}, "limit.timer", "the system has no timer for the time limit");
  itimerspec time = {};
  const double whole = std::floor(seconds);
  time.it_value.tv_sec = static_cast<time_t>(whole);
  time.it_value.tv_nsec = std::max<long>(static_cast<long>((seconds - whole) * 1e9), whole > 0 ? 0 : 1);
  timer_settime(limit_timer, 0, &time, nullptr);
}

int exit_code_of_signal(int signal_number) {
  return signal_number == SIGXCPU ? exit_code_of(ErrorClass::TimeLimit) : 128 + signal_number;
}

int signal_of_exit_code(int exit_code) {
  return exit_code == exit_code_of(ErrorClass::TimeLimit) ? SIGXCPU : exit_code - 128;
}

bool take_save_request() { return save_asked.exchange(false); }

void clear_interrupt() {
  interrupt_flag.store(0, std::memory_order_relaxed);
  pending_signals.store(0);
  obeyed.store(false);
  if (asked_signal.exchange(0) != 0) set_timer(0);
}

bool leaving() { return obeyed.load(); }

void end_was_told() { told.store(true); }

void set_last_words(void (*write)()) { last_words.store(write); }

void write_without_waiting(int descriptor, const char* text, std::size_t size) {
  while (size > 0) {
    pollfd ready{descriptor, POLLOUT, 0};
    if (::poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT)) return;
    // A pipe that is ready has room for so much.
    const ssize_t written = ::write(descriptor, text, std::min<std::size_t>(size, PIPE_BUF));
    if (written <= 0) return;
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}

void note_interrupt(std::string text) { noted = std::move(text); }

void obey_interrupt(Span span) {
  const std::int32_t signal_number = interrupt_flag.load(std::memory_order_relaxed);
  if (signal_number == 0 || shields > 0) return;
  if (ends_process(signal_number)) {
    // The timer goes on: the way out is short too. A second signal still finds the first.
    interrupt_flag.store(0, std::memory_order_relaxed);
    obeyed.store(true);
  } else {
    clear_interrupt();
  }
  Diagnostic diagnostic;
  diagnostic.error_class = ErrorClass::Interrupted;
  diagnostic.span = span;
  diagnostic.message = fmt::format("stopped by {}", signal_name(signal_number));
  Failure failure(std::move(diagnostic));
  failure.set_exit_code(exit_code_of_signal(signal_number));
  if (!noted.empty()) failure.note({}, std::exchange(noted, {}));
  throw failure;
}

InputWaits::InputWaits() { input_waits.fetch_add(1); }
InputWaits::~InputWaits() { input_waits.fetch_sub(1); }

InterruptHold::InterruptHold() { holds.fetch_add(1); }

InterruptHold::~InterruptHold() {
  ticks.store(0);
  holds.fetch_sub(1);
}

InterruptShield::InterruptShield() { ++shields; }
InterruptShield::~InterruptShield() { --shields; }

WorkingThread::WorkingThread()
    : before_(working_thread.exchange(static_cast<std::int32_t>(syscall(SYS_gettid)))) {}
WorkingThread::~WorkingThread() { working_thread.store(before_); }

}  // namespace relish

// Interrupts: a signal asks, the work stops where it polls. Every loop of the program whose length a text, a
// file or a value decides polls; what waits in a system call is woken until somebody has polled. A process
// that is to end by signals ends shortly after one whatever it is doing, unless it holds what must be saved.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "support/source.h"

namespace relish {

// Signal number that asked for the interrupt, 0 when none. Compiled code reads it as a plain 32-bit load.
extern std::atomic<std::int32_t> interrupt_flag;

// Installs handlers for SIGINT, SIGTERM, SIGHUP that set the flag (a second signal of a kind ends the process
// at once; one that follows within `same_signal_milliseconds` is the first, sent to the process and to its
// group), one for SIGUSR1 that asks to save, and ignores SIGPIPE. What the parent ignores stays ignored. May
// stand before all else that a program does, and again: what comes meanwhile is kept.
void install_signal_handlers();
inline constexpr int same_signal_milliseconds = 100;

// From now on the process has so long: then it is interrupted as by a signal, with the exit code of
// TimeLimit. The flag holds SIGXCPU.
void end_after(double seconds);
// 128 and the number; that of TimeLimit for SIGXCPU.
int exit_code_of_signal(int signal_number);
int signal_of_exit_code(int exit_code);

// Whether SIGUSR1 asked to save since the last call.
bool take_save_request();

// From now on a signal ends the process within `most_milliseconds_to_end`, with one line and its exit code;
// SIGINT only when `sigint_too` (in a session it stops a statement).
void signals_end_process(bool sigint_too);
inline constexpr int most_milliseconds_to_end = 200;

void clear_interrupt();
// An interrupt was obeyed, and the process is on its way out: what waits for others is given up.
bool leaving();
// The line that tells of the end is written; a later end says nothing more.
void end_was_told();
// Called before such an end, in a signal handler: writes what is still to be written and never waits.
void set_last_words(void (*write)());
// Writes without waiting, up to the first part that nobody takes; for last words.
void write_without_waiting(int descriptor, const char* text, std::size_t size);

// Says more of the interrupt that is about to be obeyed: where what it stopped was saved.
void note_interrupt(std::string text);

// Throws Failure(Interrupted) with the signal's exit code and clears the flag.
void obey_interrupt(Span span);
inline void poll_interrupt(Span span = {}) {
  if (interrupt_flag.load(std::memory_order_relaxed) != 0) obey_interrupt(span);
}

// Calls `work(begin, end)` for the parts of [0, count), with a poll before each.
template <class Work>
void in_polled_parts(std::int64_t count, const Work& work, Span span = {}) {
  constexpr std::int64_t part = std::int64_t{1} << 16;
  for (std::int64_t begin = 0; begin < count; begin += part) {
    poll_interrupt(span);
    work(begin, std::min(begin + part, count));
  }
}

// While one lives, a signal waits for a poll: the process has something that is worth saving first.
class InterruptHold {
 public:
  InterruptHold();
  ~InterruptHold();
  InterruptHold(const InterruptHold&) = delete;
};

// While one lives, polls of its thread do not throw either: the saving itself.
class InterruptShield {
 public:
  InterruptShield();
  ~InterruptShield();
  InterruptShield(const InterruptShield&) = delete;

 private:
  InterruptHold hold_;
};

// The thread that does the work, which is woken from system calls: the one that installed the handlers, and
// within this scope the one that made it.
class WorkingThread {
 public:
  WorkingThread();
  ~WorkingThread();
  WorkingThread(const WorkingThread&) = delete;

 private:
  std::int32_t before_;
};

}  // namespace relish

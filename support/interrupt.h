// The interrupt flag: set by signal handlers, polled by the interpreter and by compiled code (through a
// pointer).
#pragma once

#include <atomic>
#include <cstdint>

#include "support/source.h"

namespace relish {

// Signal number that asked for the interrupt, 0 when none. Compiled code reads it as a plain 32-bit load.
extern std::atomic<std::int32_t> interrupt_flag;

// Installs handlers for SIGINT, SIGTERM, SIGHUP that set the flag (a second signal of a kind ends the process
// at once) and ignores SIGPIPE.
void install_signal_handlers();
void clear_interrupt();
// Throws Failure(Interrupted) with the signal's exit code when the flag is set; the flag is cleared.
void poll_interrupt(Span span = {});

}  // namespace relish

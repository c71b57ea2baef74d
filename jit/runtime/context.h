// The C contract between compiled code and the runtime: the context that every compiled function receives,
// the status that it returns, and the place where a fault is recorded. Code generation uses the field order
// below.
#pragma once

#include <cstdint>

namespace relish::jit {

// What a compiled function returns. Anything but Ok unwinds to the entry; results are then discarded.
enum Status : std::int32_t {
  status_ok = 0,
  status_fault = 1,        // RtError says which check failed
  status_interrupted = 2,  // the interrupt flag was seen
  status_exception = 3,    // a runtime helper caught a Failure; CallState keeps it
};

// A failed check: the site indexes the table of the compiled code, `iteration` is the first index of the
// chunk of the parallel loop in which it failed, so that the lowest wins whatever the threads did.
struct RtError {
  std::int32_t site = -1;
  std::int32_t reserved = 0;
  std::int64_t iteration = 0;
  std::int64_t values[4] = {};
};

class CallState;     // of the whole call: results, the caught Failure
class Scratch;       // stack of temporary memory of one thread
struct PiecesAhead;  // what one thread may fetch before it is read

struct RtContext {
  const std::int32_t* interrupt_flag = nullptr;  // code reads this field and the next by itself
  PiecesAhead* ahead = nullptr;
  CallState* state = nullptr;
  Scratch* scratch = nullptr;
  RtError error;
};

}  // namespace relish::jit

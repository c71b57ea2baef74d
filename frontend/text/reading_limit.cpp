// The limit of this thread.
#include "frontend/text/reading_limit.h"

#include "support/failure.h"
#include "support/interrupt.h"

namespace relish {
namespace {

thread_local const std::function<bool()>* reading_goes_on = nullptr;

}  // namespace

ReadingLimit::ReadingLimit(const std::function<bool()>& goes_on) : before_(reading_goes_on) {
  reading_goes_on = goes_on ? &goes_on : nullptr;
}

ReadingLimit::~ReadingLimit() { reading_goes_on = before_; }

void poll_reading() {
  // A signal is not for a reading of which nobody waits for the end.
  if (!reading_goes_on) return poll_interrupt();
  if ((*reading_goes_on)()) return;
  Diagnostic diagnostic;
  diagnostic.error_class = ErrorClass::Interrupted;
  diagnostic.message = "the reading was given up";
  throw Failure(std::move(diagnostic));
}

}  // namespace relish

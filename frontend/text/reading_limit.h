// Reading that may be given up: an editor reads what is typed while nobody presses a key. Asked before every
// line and statement.
#pragma once

#include <functional>

namespace relish {

// While one lives, reading on this thread goes on as long as the function says so; an empty one never ends
// it.
class ReadingLimit {
 public:
  explicit ReadingLimit(const std::function<bool()>& goes_on);
  ~ReadingLimit();
  ReadingLimit(const ReadingLimit&) = delete;

 private:
  const std::function<bool()>* before_;
};

// Throws Failure(Interrupted) when the reading is given up; without a limit, when a signal asks for an end.
void poll_reading();

}  // namespace relish

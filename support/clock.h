// Seconds of the clock that never goes back, from a beginning of its own: for differences alone.
#pragma once

#include <chrono>

namespace relish {

inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace relish

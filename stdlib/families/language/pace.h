// The polls of long evaluations: what walks over elements counts its work, and looks for a signal now and
// then.
#pragma once

#include <cstdint>

#include "support/interrupt.h"

namespace relish {

// One for each loop; called with the work done since the last time, in elements or simple operations.
class Pace {
 public:
  void operator()(std::int64_t work = 1) {
    done_ += work;
    if (done_ < between_polls) return;
    done_ = 0;
    poll_interrupt();
  }

  static constexpr std::int64_t between_polls = std::int64_t{1} << 16;

 private:
  std::int64_t done_ = 0;
};

}  // namespace relish

// Threads and arenas.
#include "jit/engine/arenas.h"

#include <tbb/info.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace relish::jit {

int usable_processors() {
  int count = std::max(1, tbb::info::default_concurrency());
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (file >> quota >> period && quota != "max" && period > 0) {
    const double share = std::strtod(quota.c_str(), nullptr) / period;
    if (share >= 1)
      count = std::min(count, static_cast<int>(share));
    else if (share > 0)
      count = 1;
  }
  return count;
}

tbb::task_arena& Arenas::of(int threads) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<tbb::task_arena>& arena = arenas_[threads];
  if (!arena) {
    if (threads > tbb::info::default_concurrency()) {
      more_workers_.emplace_back(tbb::global_control::max_allowed_parallelism,
                                 static_cast<std::size_t>(threads));
    }
    arena = std::make_unique<tbb::task_arena>(threads);
  }
  return *arena;
}

}  // namespace relish::jit

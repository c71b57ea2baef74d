// The threads of the compiled tier: how many a process may use, and the arena of TBB for so many.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <list>
#include <map>
#include <memory>
#include <mutex>

namespace relish::jit {

// Processors that this process may use: its affinity, and the quota of its cgroup.
int usable_processors();

class Arenas {
 public:
  tbb::task_arena& of(int threads);

 private:
  std::mutex mutex_;
  std::list<tbb::global_control> more_workers_;
  std::map<int, std::unique_ptr<tbb::task_arena>> arenas_;  // by number of threads
};

}  // namespace relish::jit

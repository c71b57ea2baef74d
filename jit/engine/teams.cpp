// Threads and teams.
#include "jit/engine/teams.h"

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

std::unique_ptr<Team> Teams::take(int threads) {
  if (std::unique_ptr<Team> last{last_.exchange(nullptr)}) {
    if (last->threads() == threads) return last;
    keep(std::move(last));
  }
  std::lock_guard lock(mutex_);
  std::vector<std::unique_ptr<Team>>& free = free_[threads];
  if (!free.empty()) {
    std::unique_ptr<Team> team = std::move(free.back());
    free.pop_back();
    return team;
  }
  if (threads > std::max(most_workers_, tbb::info::default_concurrency())) {
    more_workers_.emplace_back(tbb::global_control::max_allowed_parallelism,
                               static_cast<std::size_t>(threads));
    most_workers_ = threads;
  }
  return std::make_unique<Team>(threads);
}

void Teams::give_back(std::unique_ptr<Team> team) {
  if (std::unique_ptr<Team> before{last_.exchange(team.release())}) keep(std::move(before));
}

void Teams::keep(std::unique_ptr<Team> team) {
  std::lock_guard lock(mutex_);
  free_[team->threads()].push_back(std::move(team));
}

}  // namespace relish::jit

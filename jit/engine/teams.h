// The threads of the compiled tier: how many a process may use, and teams of so many, which calls share one
// after the other.
#pragma once

#include <tbb/global_control.h>

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "jit/runtime/team.h"

namespace relish::jit {

// Processors that this process may use: its affinity, and the quota of its cgroup.
int usable_processors();

class Teams {
 public:
  Teams() = default;
  ~Teams() { delete last_.load(); }
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;

  std::unique_ptr<Team> take(int threads);
  void give_back(std::unique_ptr<Team> team);

 private:
  void keep(std::unique_ptr<Team> team);

  // Calls one after the other find here the team of the one before, without a lock.
  std::atomic<Team*> last_{nullptr};
  std::mutex mutex_;
  std::list<tbb::global_control> more_workers_;
  int most_workers_ = 0;
  std::map<int, std::vector<std::unique_ptr<Team>>> free_;  // by number of threads
};

// A team for one call; none for one thread.
class TeamOfCall {
 public:
  TeamOfCall(Teams& teams, int threads) : teams_(teams), team_(threads > 1 ? teams.take(threads) : nullptr) {}
  ~TeamOfCall() {
    if (team_) teams_.give_back(std::move(team_));
  }
  TeamOfCall(const TeamOfCall&) = delete;
  TeamOfCall& operator=(const TeamOfCall&) = delete;

  Team* get() const { return team_.get(); }

 private:
  Teams& teams_;
  std::unique_ptr<Team> team_;
};

}  // namespace relish::jit

// The threads that run the parallel loops of one call. A loop that opens finds them awake when the one before
// it ended a moment ago: waking a thread that sleeps takes longer than most loops.
#pragma once

#include <tbb/task_arena.h>

#include <memory>

namespace relish::jit {

class Team {
 public:
  // The thread that calls `run`, and threads - 1 of TBB's.
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return threads_; }

  using Work = void (*)(void* data, int participant);
  // work(data, 0) here, and work(data, p) on each other thread that comes while it lasts; returns when all
  // have left it. The work must be done when the call here returns, whoever came. False when the team is at
  // work: nothing was done.
  bool run(Work work, void* data);

 private:
  struct State;
  void call_for_help();

  const int threads_;
  std::shared_ptr<State> state_;  // also of helpers that TBB has not started
  tbb::task_arena arena_;
};

}  // namespace relish::jit

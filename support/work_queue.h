// Work on threads of its own that its owner can abandon at any moment: who waits for it obeys an interrupt,
// and the end of the process waits for nothing.
#pragma once

#include <functional>
#include <memory>

#include "support/source.h"

namespace relish {

class WorkQueue {
 public:
  explicit WorkQueue(int threads);
  // Drops what has not begun. What is under way ends by itself, so a job owns all that it touches.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void add(std::function<void()> job);
  // Returns when all jobs are done, or throws what the first of them threw. Failure(Interrupted) at `span` as
  // soon as a signal asks for it.
  void wait(Span span);
  // Returns when all jobs are done, whatever they threw and whoever interrupts.
  void drain();

 private:
  struct State;
  static void* work(void* argument);
  std::shared_ptr<State> state_;
  int threads_;
};

}  // namespace relish

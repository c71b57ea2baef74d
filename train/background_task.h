// One task at a time on a thread of its own, beside the steps: the writing of a checkpoint. Signals stay with
// the thread that works, and what the task held is let go by that thread too.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "support/failure.h"

namespace relish {

class BackgroundTask {
 public:
  BackgroundTask() = default;
  ~BackgroundTask() { wait(); }
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  bool running() const { return thread_.joinable(); }
  bool done() const { return done_.load(std::memory_order_acquire); }
  // Nothing may be running. Where no thread can be started, the task is done before this returns.
  void start(std::function<void()> task);
  // Waits for it. Why it failed, once.
  std::optional<Failure> wait();

 private:
  void run();

  std::function<void()> task_;
  std::thread thread_;
  std::atomic<bool> done_{false};
  std::optional<Failure> failure_;
};

}  // namespace relish

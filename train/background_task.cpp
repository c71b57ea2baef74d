// A thread is made for each task: tasks are rare beside what they cost.
#include "train/background_task.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <system_error>

#include "support/interrupt.h"

namespace relish {

namespace {

// The steps go first, but not so far that who waits for the end of a job on a busy machine waits long. Of a
// thread, as Linux has it; where it cannot be had it goes on as it is.
void work_behind_others() {
  constexpr int later = 5, last = 19;
  const int now = ::getpriority(PRIO_PROCESS, 0);
  (void)!::setpriority(PRIO_PROCESS, 0, std::min(now + later, last));
}

}  // namespace

void BackgroundTask::run() {
  // A task that was begun is finished; who waits for it decides what comes then.
  const InterruptShield shield;
  try {
    task_();
  } catch (const Failure& failure) {
    failure_ = failure;
  } catch (const std::exception& error) {
    Diagnostic diagnostic;
    diagnostic.error_class = ErrorClass::ResourceLimit;
    diagnostic.message = error.what();
    failure_ = Failure(std::move(diagnostic));
  }
  done_.store(true, std::memory_order_release);
}

void BackgroundTask::start(std::function<void()> task) {
  RELISH_CHECK(!running());
  task_ = std::move(task);
  done_.store(false);
  failure_.reset();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    thread_ = std::thread([this] {
      work_behind_others();
      run();
    });
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) run();
}

std::optional<Failure> BackgroundTask::wait() {
  if (thread_.joinable()) thread_.join();
  task_ = nullptr;
  return std::exchange(failure_, std::nullopt);
}

}  // namespace relish

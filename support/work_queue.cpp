// Detached threads around one queue, which they share with its owner.
#include "support/work_queue.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <iostream>
#include <mutex>

#include "support/big_stack.h"
#include "support/interrupt.h"

namespace relish {
namespace {

// Passes over deep expressions recurse; pages are committed only as they are touched.
constexpr std::size_t wanted_bytes_of_stack = std::size_t{256} << 20;
constexpr std::size_t least_bytes_of_stack = std::size_t{16} << 20;
constexpr auto poll_interval = std::chrono::milliseconds(5);

std::atomic<int> jobs_under_way{0};

// A job that is still at work when the process ends must not see the destruction of what it uses.
void leave_without_waiting(int status, void* /*unused*/) {
  if (jobs_under_way.load() == 0) return;
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

struct WorkQueue::State {
  std::mutex mutex;
  std::condition_variable more, progress;
  std::deque<std::function<void()>> jobs;
  int threads = 0, idle = 0, busy = 0;
  bool closed = false;
  std::exception_ptr failure;

  // Runs the job in front; `lock` is held before and after.
  void run_next(std::unique_lock<std::mutex>& lock) {
    std::function<void()> job = std::move(jobs.front());
    jobs.pop_front();
    ++busy;
    ++jobs_under_way;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      job();
      job = nullptr;
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (thrown && !failure) failure = thrown;
    --jobs_under_way;
    --busy;
    progress.notify_all();
  }
};

WorkQueue::WorkQueue(int threads) : state_(std::make_shared<State>()), threads_(threads) {
  static const int registered = on_exit(leave_without_waiting, nullptr);
  static_cast<void>(registered);
}

WorkQueue::~WorkQueue() {
  const std::lock_guard lock(state_->mutex);
  state_->jobs.clear();
  state_->closed = true;
  state_->more.notify_all();
}

void* WorkQueue::work(void* argument) {
  const std::unique_ptr<std::shared_ptr<State>> held(static_cast<std::shared_ptr<State>*>(argument));
  State& state = **held;
  std::unique_lock lock(state.mutex);
  while (true) {
    ++state.idle;
    state.more.wait(lock, [&] { return state.closed || !state.jobs.empty(); });
    --state.idle;
    if (state.jobs.empty()) return nullptr;
    state.run_next(lock);
  }
}

void WorkQueue::add(std::function<void()> job) {
  const std::lock_guard lock(state_->mutex);
  state_->jobs.push_back(std::move(job));
  state_->more.notify_one();
  if (state_->threads == threads_ || static_cast<std::size_t>(state_->idle) >= state_->jobs.size()) return;
  auto held = std::make_unique<std::shared_ptr<State>>(state_);
  const std::size_t most = stack_within_limits(wanted_bytes_of_stack, least_bytes_of_stack);
  for (std::size_t bytes = most; bytes >= least_bytes_of_stack; bytes /= 2) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    const bool started = pthread_create(&thread, &attributes, work, held.get()) == 0;
    pthread_attr_destroy(&attributes);
    if (!started) continue;
    static_cast<void>(held.release());  // the thread has it
    ++state_->threads;
    return;
  }
}

void WorkQueue::wait(Span span) {
  std::unique_lock lock(state_->mutex);
  while (!state_->failure && (state_->busy > 0 || !state_->jobs.empty())) {
    if (state_->threads == 0) {  // none to be had: here, one after the other
      state_->run_next(lock);
    } else {
      state_->progress.wait_for(lock, poll_interval);
    }
    poll_interrupt(span);
  }
  if (state_->failure) std::rethrow_exception(state_->failure);
}

void WorkQueue::drain() {
  std::unique_lock lock(state_->mutex);
  while (state_->busy > 0 || !state_->jobs.empty()) {
    if (state_->threads == 0)
      state_->run_next(lock);
    else
      state_->progress.wait(lock);
  }
}

}  // namespace relish

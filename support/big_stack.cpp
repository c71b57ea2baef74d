// A thread with a large reserved stack. Pages are committed only as the recursion touches them.
#include "support/big_stack.h"

#include <pthread.h>

#include <algorithm>
#include <exception>

#include "support/failure.h"
#include "support/interrupt.h"
#include "support/limits.h"

namespace relish {
namespace {

constexpr std::size_t wanted_stack_bytes = std::size_t{1} << 30;

thread_local bool on_big_stack = false;

struct Job {
  const std::function<void()>* work;
  std::exception_ptr error;
};

void* run_job(void* argument) {
  auto* job = static_cast<Job*>(argument);
  on_big_stack = true;
  const WorkingThread woken_by_signals;
  try {
    (*job->work)();
  } catch (...) {
    job->error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

std::size_t stack_within_limits(std::size_t wanted, std::size_t least) {
  constexpr std::size_t share = 8;
  return std::clamp<std::size_t>(address_limit() / share, least, wanted);
}

void with_big_stack(const std::function<void()>& work) {
  if (on_big_stack) return work();
  Job job{&work, nullptr};
  pthread_t thread;
  bool started = false;
  // Under a small address space limit a smaller stack is better than none: depth is counted besides.
  const std::size_t most = stack_within_limits(wanted_stack_bytes, least_stack_bytes);
  for (std::size_t bytes = most; !started && bytes >= least_stack_bytes; bytes /= 2) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    started = pthread_create(&thread, &attributes, run_job, &job) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (!started) {
    fail(
        ErrorClass::ResourceLimit, {}, "thread.stack",
        "cannot start a thread with a 64 MiB stack; raise the limits of the process (ulimit -v, ulimit -d, ulimit -u)");
  }
  pthread_join(thread, nullptr);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace relish

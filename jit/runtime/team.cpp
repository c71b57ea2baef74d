// Helpers that wait a short time for the next loop before they go back to TBB.
#include "jit/runtime/team.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace relish::jit {
namespace {

using Clock = std::chrono::steady_clock;

// How long a helper stays without work, and for how long of that it gives its processor to nobody.
constexpr auto longest_wait = std::chrono::microseconds(200);
constexpr int turns_between_looks = 32;
constexpr int looks_before_yield = 64;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

enum HelperState : int { absent, called, here };

}  // namespace

struct Team::State {
  explicit State(int helpers) : helpers(static_cast<std::size_t>(helpers)) {}

  struct Posted {
    Work work;
    void* data;
  };
  struct alignas(64) Helper {
    std::atomic<int> state{absent};
  };

  alignas(64) std::atomic<std::uint64_t> number{0};  // of works so far
  std::atomic<const Posted*> posted{nullptr};
  std::atomic<bool> closed{false};
  alignas(64) std::atomic<int> inside{0};  // helpers that may be in the posted work
  alignas(64) std::atomic<bool> busy{false};
  std::vector<Helper> helpers;

  // One thread of TBB, until there was no work for a while.
  void help(int participant) {
    Helper& own = helpers[static_cast<std::size_t>(participant - 1)];
    int expected = called;
    if (!own.state.compare_exchange_strong(expected, here)) return;  // the team has ended
    std::uint64_t done = 0;
    while (true) {
      wait_for_work(done, participant);
      own.state.store(absent);
      // Work that was posted while this helper still counted as here.
      expected = absent;
      if (closed.load() || number.load() == done || !own.state.compare_exchange_strong(expected, here))
        return;
    }
  }

  void wait_for_work(std::uint64_t& done, int participant) {
    Clock::time_point until = Clock::now() + longest_wait;
    for (int looks = 0; !closed.load(std::memory_order_relaxed); ++looks) {
      for (int turn = 0; turn < turns_between_looks; ++turn) {
        if (const std::uint64_t now = number.load(std::memory_order_acquire); now != done) {
          done = now;
          join(participant);
          until = Clock::now() + longest_wait;
          looks = 0;
        }
        relax();
      }
      if (Clock::now() > until) return;
      if (looks > looks_before_yield) std::this_thread::yield();
    }
  }

  // The work may have ended by now: who posts it withdraws it first and then waits for those inside.
  void join(int participant) {
    inside.fetch_add(1);
    if (const Posted* work = posted.load()) work->work(work->data, participant);
    inside.fetch_sub(1);
  }
};

Team::Team(int threads)
    : threads_(threads), state_(std::make_shared<State>(threads - 1)), arena_(threads, 1) {}

Team::~Team() {
  state_->closed.store(true);
  for (State::Helper& helper : state_->helpers) {
    int expected = called;
    helper.state.compare_exchange_strong(expected, absent);  // never started
    while (helper.state.load() == here) std::this_thread::yield();
  }
}

void Team::call_for_help() {
  for (int p = 1; p < threads_; ++p) {
    int expected = absent;
    if (!state_->helpers[static_cast<std::size_t>(p - 1)].state.compare_exchange_strong(expected, called))
      continue;
    arena_.enqueue([state = state_, p] { state->help(p); });
  }
}

bool Team::run(Work work, void* data) {
  State& state = *state_;
  if (state.busy.exchange(true)) return false;
  const State::Posted posted{work, data};
  state.posted.store(&posted);
  state.number.fetch_add(1);
  try {
    call_for_help();
  } catch (...) {  // no helper, then: all is done here
  }
  work(data, 0);
  state.posted.store(nullptr);
  for (int turn = 0; state.inside.load() != 0; ++turn) {
    if (turn < turns_between_looks * looks_before_yield)
      relax();
    else
      std::this_thread::yield();
  }
  state.busy.store(false);
  return true;
}

}  // namespace relish::jit

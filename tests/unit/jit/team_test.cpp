// Teams of threads: every part of a work is done once, whoever comes to help.
#include "jit/runtime/team.h"

#include <tbb/global_control.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

using relish::jit::Team;

namespace {

// As many threads as the teams here ask for, on a machine of fewer processors too.
const tbb::global_control& enough_threads() {
  static const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 4);
  return control;
}

struct Parts {
  Team* team = nullptr;
  std::atomic<int> next{0}, most{0}, at_work{0}, nested{0};
  std::array<std::atomic<int>, 64> done{};

  static void work(void* data, int participant) {
    auto& own = *static_cast<Parts*>(data);
    require_here(participant >= 0 && participant < own.team->threads());
    const int now = ++own.at_work;
    for (int seen = own.most; seen < now && !own.most.compare_exchange_weak(seen, now);) {
    }
    own.nested += own.team->run([](void*, int) {}, nullptr) ? 1 : 0;
    for (int part = own.next++; part < 64; part = own.next++) ++own.done[static_cast<std::size_t>(part)];
    --own.at_work;
  }
  // Catch's assertions belong to one thread.
  static void require_here(bool good) {
    if (!good) std::abort();
  }
};

}  // namespace

TEST_CASE("team: every part is done once, and nobody is inside when it ends", "[jit]") {
  static_cast<void>(enough_threads());
  Team team(3);
  for (int round = 0; round < 300; ++round) {
    Parts parts;
    parts.team = &team;
    REQUIRE(team.run(Parts::work, &parts));
    CHECK(parts.at_work == 0);
    CHECK(parts.nested == 0);  // at work, it takes no other
    for (const auto& done : parts.done) REQUIRE(done == 1);
    // Now and then so long that helpers have left.
    if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST_CASE("team: helpers come while a work lasts", "[jit]") {
  static_cast<void>(enough_threads());
  Team team(2);
  std::atomic<bool> helped{false};
  // Ends when another thread has come; gives up after ten seconds.
  const auto until_helped = [](void* data, int participant) {
    auto& seen = *static_cast<std::atomic<bool>*>(data);
    if (participant > 0) seen = true;
    for (int turn = 0; !seen && turn < 10'000; ++turn)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  REQUIRE(team.run(until_helped, &helped));
  CHECK(helped);
}

TEST_CASE("team: one that never worked, and one that just did, end", "[jit]") {
  static_cast<void>(enough_threads());
  for (int round = 0; round < 50; ++round) {
    Team team(4);
    if (round % 2 == 0) CHECK(team.run([](void*, int) {}, nullptr));
  }
}

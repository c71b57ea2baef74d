// What an exception drops is freed by another thread, what is done with by this one.
#include "support/freed_behind.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

namespace relish {
namespace {

struct Told {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::thread::id> freed_by;
};

struct Large {
  Told& told;
  ~Large() {
    const std::lock_guard lock(told.mutex);
    told.freed_by = std::this_thread::get_id();
    told.changed.notify_all();
  }
};

std::thread::id freed_by(Told& told) {
  std::unique_lock lock(told.mutex);
  told.changed.wait(lock, [&] { return told.freed_by.has_value(); });
  return *told.freed_by;
}

TEST_CASE("what an exception drops is freed behind it") {
  for (int round = 0; round < 3; ++round) {
    Told told;
    CHECK_THROWS([&] {
      const FreedBehind<Large> large(told);
      throw std::runtime_error("stopped");
    }());
    CHECK(freed_by(told) != std::this_thread::get_id());
  }
  Told told;
  {
    const FreedBehind<Large> large(told);
  }
  CHECK(freed_by(told) == std::this_thread::get_id());
}

}  // namespace
}  // namespace relish

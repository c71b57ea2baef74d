// Pieces of work on all processors: each once, and the failure that is told.
#include "support/side_by_side.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <vector>

#include "support/big_stack.h"
#include "support/failure.h"

using namespace relish;

TEST_CASE("every piece runs once, few and many") {
  for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 1000U}) {
    std::vector<std::atomic<int>> runs(count);
    side_by_side(count, [&](std::size_t i) { ++runs.at(i); });
    for (const std::atomic<int>& each : runs) CHECK(each == 1);
  }
}

TEST_CASE("what a piece throws comes behind the others, and no more are taken") {
  for (const std::size_t count : {5U, 500U}) {
    std::atomic<std::size_t> ran{0};
    std::atomic<int> under_way{0};
    const auto run = [&] {
      side_by_side(count, [&](std::size_t i) {
        ++under_way;
        ++ran;
        if (i == 3) {
          --under_way;
          fail(ErrorClass::Type, {}, "test.failure", "of the fourth");
        }
        --under_way;
      });
    };
    CHECK_THROWS_AS(run(), Failure);
    CHECK(under_way == 0);
    CHECK(ran >= 1);
    if (count == 5) CHECK(ran == 4);
  }
}

TEST_CASE("a piece has room for deep recursion") {
  const std::function<int(int)> deep = [&](int n) {
    volatile char frame[2048];
    frame[0] = static_cast<char>(n);
    return n == 0 ? static_cast<int>(frame[0]) : deep(n - 1) + (frame[0] & 0);
  };
  std::atomic<int> sum{0};
  with_big_stack([&] { side_by_side(16, [&](std::size_t) { sum += deep(30'000) + 1; }); });
  CHECK(sum == 16);
}

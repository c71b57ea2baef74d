// Blocks that are kept: which one comes back, and that they never stand in the way of the limit.
#include "runtime/storage.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "runtime/tensor.h"
#include "support/limits.h"
#include "support/memory.h"
#include "support/memory_reserve.h"

using namespace relish;

TEST_CASE("storage: the block that was left last is found first, others by their size", "[runtime]") {
  if (!keeps_storage()) return;
  give_reserves_back();
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  {
    const auto first = take_storage(1 << 10), second = take_storage(2 << 10), third = take_storage(1 << 10);
    a = first.get(), b = second.get(), c = third.get();
    CHECK(a != c);
  }
  const StorageCounts before = storage_counts();
  const auto small = take_storage(1 << 10), other = take_storage((1 << 10) - 5),
             large = take_storage(2 << 10);
  CHECK(storage_counts().reused == before.reused + 3);
  CHECK(storage_counts().taken == before.taken);
  CHECK((small.get() == a || small.get() == c));
  CHECK((other.get() == a || other.get() == c));
  CHECK(small.get() != other.get());
  CHECK(large.get() == b);
  const auto more = take_storage(1 << 10);
  CHECK(storage_counts().taken == before.taken + 1);
  CHECK(more.get() != a);
  CHECK(more.get() != c);
}

TEST_CASE("storage: the last block is nothing for another size, and stays", "[runtime]") {
  if (!keeps_storage()) return;
  give_reserves_back();
  take_storage(1 << 10);
  const StorageCounts before = storage_counts();
  const auto larger = take_storage(4 << 10);
  CHECK(storage_counts().taken == before.taken + 1);
  const auto same = take_storage(1 << 10);
  CHECK(storage_counts().taken == before.taken + 1);
}

TEST_CASE("storage: no more than a quarter of the limit is kept", "[runtime]") {
  if (!keeps_storage()) return;
  const std::uint64_t limit = limits().memory_bytes;
  give_reserves_back();
  limits().memory_bytes = memory_held() + (16 << 20);
  bool asked = false;
  const MemoryReserve other([&] { asked = true; });
  {
    std::vector<std::shared_ptr<void>> blocks;
    for (int i = 0; i < 8; ++i) blocks.push_back(take_storage(1 << 20));
  }
  // Of 8 MiB 4 and the last one stay.
  take_memory(11 << 20, "a test");
  CHECK_FALSE(asked);
  give_memory_back(11 << 20);
  take_memory((11 << 20) + 1, "a test");
  CHECK(asked);
  give_memory_back((11 << 20) + 1);
  limits().memory_bytes = limit;
}

TEST_CASE("storage: what is kept, the last block too, goes before something is refused", "[runtime]") {
  const std::uint64_t limit = limits().memory_bytes;
  give_reserves_back();
  for (const std::uint64_t kept : {std::uint64_t{512} << 10, std::uint64_t{8} << 20}) {
    limits().memory_bytes = memory_held() + 5 * kept;
    take_storage(kept);
    CHECK_NOTHROW(take_storage(5 * kept));
    take_storage(kept);
    CHECK_THROWS(take_storage(5 * kept + 64));
    CHECK(memory_held() + 5 * kept == limits().memory_bytes);
  }
  limits().memory_bytes = limit;
}

TEST_CASE("storage: what is kept is counted to the byte, in front and behind", "[runtime]") {
  if (!keeps_storage()) return;
  const std::uint64_t limit = limits().memory_bytes;
  give_reserves_back();
  const std::uint64_t held = memory_held();
  bool asked = false;
  const MemoryReserve other([&] { asked = true; });
  limits().memory_bytes = held + (16 << 20);
  for (int round = 0; round < 5; ++round) {
    {
      const auto a = take_storage(1 << 20), b = take_storage(1 << 20), c = take_storage(2 << 20);
    }
    // 4 MiB are kept, of which these take 2: 14 more fit without anything given back.
    const auto a = take_storage(1 << 20), b = take_storage(1 << 20);
    take_memory(12 << 20, "a test");
    CHECK_FALSE(asked);
    give_memory_back(12 << 20);
  }
  take_memory((16 << 20) - (2 << 20), "a test");
  CHECK(asked);
  give_memory_back((16 << 20) - (2 << 20));
  limits().memory_bytes = limit;
}

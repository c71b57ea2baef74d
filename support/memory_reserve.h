// Memory that is counted but in no use, kept so that it need not be taken again. It is given back before
// anything is refused for want of room.
#pragma once

#include <cstdint>
#include <functional>

namespace relish {

class MemoryReserve {
 public:
  // `give_back` may be called from any thread while this lives. It takes no memory.
  explicit MemoryReserve(std::function<void()> give_back);
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;
  ~MemoryReserve();

 private:
  friend void give_reserves_back();
  const std::function<void()> give_back_;
};

void give_reserves_back();

// What a reserve holds that is not among memory_held(): it leaves less room below the limit until it is given
// back. Negative when it is.
void add_unused_memory(std::int64_t bytes);

}  // namespace relish

// The list of all reserves.
#include "support/memory_reserve.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace relish {
namespace {

struct Reserves {
  std::mutex mutex;
  std::vector<const MemoryReserve*> all;
};

// Never destroyed: reserves of static objects end later.
Reserves& reserves() {
  static auto* const held = new Reserves();
  return *held;
}

}  // namespace

MemoryReserve::MemoryReserve(std::function<void()> give_back) : give_back_(std::move(give_back)) {
  Reserves& held = reserves();
  const std::lock_guard lock(held.mutex);
  held.all.push_back(this);
}

MemoryReserve::~MemoryReserve() {
  Reserves& held = reserves();
  const std::lock_guard lock(held.mutex);
  held.all.erase(std::find(held.all.begin(), held.all.end(), this));
}

void give_reserves_back() {
  Reserves& held = reserves();
  const std::lock_guard lock(held.mutex);
  // Twice: tensors that one reserve lets go may come to another one that was asked before.
  for (int round = 0; round < 2; ++round)
    for (const MemoryReserve* reserve : held.all) reserve->give_back_();
}

}  // namespace relish

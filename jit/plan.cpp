// Greedy sharing of arena slots.
#include "jit/plan.h"

#include <algorithm>

namespace relish::jit {
namespace {

struct Slot {
  std::optional<std::int64_t> bytes;  // of a slot for literal sizes
  Scalar symbolic;                    // size of the first life of a symbolic slot
  std::int64_t end = -1;
};

std::optional<std::size_t> choose(const std::vector<Slot>& slots, const Life& life) {
  const auto wanted = life.bytes.as_int();
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    if (slot.end >= life.begin || slot.bytes.has_value() != wanted.has_value()) continue;
    if (!wanted) {
      if (structurally_equal(slot.symbolic, life.bytes)) return i;
      if (!best) best = i;
      continue;
    }
    if (!best) {
      best = i;
      continue;
    }
    const bool fits = *slot.bytes >= *wanted, best_fits = *slots[*best].bytes >= *wanted;
    if (fits != best_fits ? fits
                          : (fits ? *slot.bytes < *slots[*best].bytes : *slot.bytes > *slots[*best].bytes))
      best = i;
  }
  return best;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Life> lives) {
  MemoryPlan plan;
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const Life& life = lives[i];
    auto chosen = choose(slots, life);
    if (!chosen) {
      slots.push_back({life.bytes.as_int(), life.bytes, -1});
      plan.slots.emplace_back();
      chosen = slots.size() - 1;
    }
    Slot& slot = slots[*chosen];
    slot.end = life.end;
    if (slot.bytes) slot.bytes = std::max(*slot.bytes, *life.bytes.as_int());
    plan.slot_of.push_back(*chosen);
    plan.slots[*chosen].push_back(i);
  }
  return plan;
}

}  // namespace relish::jit

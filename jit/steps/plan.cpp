// Greedy sharing of arena slots.
#include "jit/steps/plan.h"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>

#include "jit/steps/scalar_hash.h"

namespace relish::jit {
namespace {

class Planner {
 public:
  MemoryPlan run(std::span<const Life> lives) {
    for (std::size_t i = 0; i < lives.size(); ++i) {
      const Life& life = lives[i];
      while (!busy_.empty() && busy_.top().first < life.begin) {
        free(busy_.top().second);
        busy_.pop();
      }
      const auto bytes = life.bytes.as_int();
      const std::size_t slot = bytes ? literal_slot(*bytes) : symbolic_slot(life.bytes);
      busy_.emplace(life.end, slot);
      plan_.slot_of.push_back(slot);
      plan_.slots[slot].push_back(i);
    }
    return std::move(plan_);
  }

 private:
  struct Slot {
    std::optional<std::int64_t> bytes;  // of a slot for literal sizes
    std::size_t form = 0;               // of a symbolic one: the size of its first life
  };

  std::size_t add(Slot slot) {
    slots_.push_back(slot);
    plan_.slots.emplace_back();
    return slots_.size() - 1;
  }

  void free(std::size_t slot) {
    if (slots_[slot].bytes) {
      literal_.emplace(*slots_[slot].bytes, slot);
      return;
    }
    symbolic_.insert(slot);
    by_form_[slots_[slot].form].insert(slot);
  }

  // The tightest that fits, else the largest; of equal ones the first.
  std::size_t literal_slot(std::int64_t wanted) {
    auto chosen = literal_.lower_bound({wanted, 0});
    if (chosen == literal_.end() && !literal_.empty())
      chosen = literal_.lower_bound({literal_.rbegin()->first, 0});
    if (chosen == literal_.end()) return add({wanted, 0});
    const std::size_t slot = chosen->second;
    literal_.erase(chosen);
    slots_[slot].bytes = std::max(*slots_[slot].bytes, wanted);
    return slot;
  }

  // The first of equal size, else the first.
  std::size_t symbolic_slot(const Scalar& wanted) {
    const std::size_t form = form_of(wanted);
    std::set<std::size_t>& equal = by_form_[form];
    if (symbolic_.empty()) return add({std::nullopt, form});
    const std::size_t slot = equal.empty() ? *symbolic_.begin() : *equal.begin();
    symbolic_.erase(slot);
    by_form_[slots_[slot].form].erase(slot);
    return slot;
  }

  // Sizes that are structurally equal have one number.
  std::size_t form_of(const Scalar& size) {
    const std::uint64_t hash = hash_of(size);
    const auto [begin, end] = forms_.equal_range(hash);
    for (auto at = begin; at != end; ++at)
      if (structurally_equal(at->second.first, size)) return at->second.second;
    const std::size_t number = forms_.size();
    forms_.emplace(hash, std::pair(size, number));
    return number;
  }

  using Busy = std::pair<std::int64_t, std::size_t>;  // end, slot
  MemoryPlan plan_;
  std::vector<Slot> slots_;
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  std::set<std::pair<std::int64_t, std::size_t>> literal_;  // free ones by size
  std::set<std::size_t> symbolic_;
  std::unordered_map<std::size_t, std::set<std::size_t>> by_form_;  // free ones
  std::unordered_multimap<std::uint64_t, std::pair<Scalar, std::size_t>> forms_;
};

}  // namespace

MemoryPlan plan_memory(std::span<const Life> lives) { return Planner().run(lives); }

}  // namespace relish::jit

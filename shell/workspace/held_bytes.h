// The memory that values hold: tensors, lists, dicts and texts, each counted once however many hold it.
#pragma once

#include <cstdint>

#include "shell/workspace/name_map.h"

namespace relish {

class HeldBytes {
 public:
  // What the value holds that was not counted before is counted; `add` gives its bytes.
  std::uint64_t add(const ScriptValue& value);
  std::uint64_t add(const NameMap& names);
  std::uint64_t bytes() const { return bytes_; }

  // To count and think better of it.
  struct Mark {
    std::size_t seen = 0;
    std::uint64_t bytes = 0;
  };
  Mark mark() const { return {seen_.order.size(), bytes_}; }
  void forget_since(const Mark& mark);

 private:
  NameMap::Seen seen_;
  std::uint64_t bytes_ = 0;
  std::vector<const ScriptValue*> captured_;  // of functions, to be counted
  bool following_ = false;
};

// Of one value.
std::uint64_t held_bytes(const ScriptValue& value);

}  // namespace relish

// Looking up keys of a dict by their hash, so that a dict of n entries takes n steps to make and one to look
// into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "shell/script/script_value.h"
#include "support/memory.h"

namespace relish {

using DictItems = std::vector<std::pair<ScriptValue, ScriptValue>>;

// Whether a dict may have it as a key: a str, number, bool, None, or a tuple of these.
bool is_key(const ScriptValue& value);

// Where keys stand in a list of items, which holds them. Numbers are alike where Python's `==` says so:
// 1, 1.0 and True are one key.
class DictIndex {
 public:
  explicit DictIndex(Span span = {}) : held_(0, "a dict", span) {}

  std::optional<std::size_t> find(const DictItems& items, const ScriptValue& key) const;
  // That `key`, which is not there yet, stands at `position`.
  void add(const ScriptValue& key, std::size_t position);
  void remove(const ScriptValue& key, std::size_t position);

 private:
  // An open table: a key's place, or one behind it. Places hold positions, which the items' keys confirm.
  struct Place {
    std::size_t hash = 0;
    std::uint32_t position = free;
  };
  static constexpr std::uint32_t free = UINT32_MAX, removed = UINT32_MAX - 1;
  void grow();
  std::size_t first_of(std::size_t hash) const { return hash & (places_.size() - 1); }

  std::vector<Place> places_;  // a power of two
  std::size_t taken_ = 0;      // removed ones too
  HeldMemory held_;
};

// The value of a key, or null. A dict that is looked into more than once has an index from then on.
const ScriptValue* find_in(const ScriptDict& dict, const ScriptValue& key);
std::optional<std::size_t> position_in(const ScriptDict& dict, const ScriptValue& key);

// Changes of a dict that nobody else holds. The key of a new entry is not there yet.
void add_entry(ScriptDict& dict, ScriptValue key, ScriptValue value);
void remove_entry(ScriptDict& dict, std::size_t position);

}  // namespace relish

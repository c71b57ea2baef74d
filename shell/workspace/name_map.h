// Names and their values as one immutable map: a copy costs a handle, a change the way to its place. Maps of
// the same names share all that they have in common, so two states are compared by what differs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "shell/script/script_value.h"

namespace relish {

class NameMap {
 public:
  const ScriptValue* find(std::string_view name) const;
  std::size_t size() const { return size_; }
  // This map with the name bound to the value, or without the name.
  NameMap with(const std::string& name, ScriptValue value) const;
  NameMap without(std::string_view name) const;
  // In the order of the names.
  void for_each(const std::function<void(const std::string& name, const ScriptValue& value)>& visit) const;

  // Names whose values are not the same here and in `other`, in order; null where a side does not have the
  // name. Costs what differs, not what there is.
  using Difference =
      std::function<void(const std::string& name, const ScriptValue* here, const ScriptValue* there)>;
  void for_each_difference(const NameMap& other, const Difference& visit) const;

  // The values that no map shown to `seen` before had at this place of the structure: to count what many maps
  // hold together without counting twice.
  struct Seen {
    std::unordered_set<const void*> places;
    std::vector<const void*> order;  // in which they came
    bool insert(const void* place) {
      const bool fresh = places.insert(place).second;
      if (fresh) order.push_back(place);
      return fresh;
    }
  };
  void for_each_unseen(Seen& seen, const std::function<void(const ScriptValue& value)>& visit) const;

  struct Node;
  using NodePtr = std::shared_ptr<const Node>;

 private:
  NodePtr root_;
  std::size_t size_ = 0;
};

// Whether both are one value: numbers and texts by what they are, all else by being the very same object.
bool is_same_value(const ScriptValue& a, const ScriptValue& b);

}  // namespace relish

// A map of few entries as one sorted list: what std::map does with a piece of memory for each entry.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace relish {

template <class Key, class Value, class Order>
class FlatMap {
 public:
  using Entry = std::pair<Key, Value>;
  using iterator = typename std::vector<Entry>::iterator;
  using const_iterator = typename std::vector<Entry>::const_iterator;

  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  iterator end() { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  void reserve(std::size_t size) { entries_.reserve(size); }

  std::pair<iterator, bool> try_emplace(const Key& key, Value value) {
    const auto place =
        std::lower_bound(entries_.begin(), entries_.end(), key,
                         [](const Entry& entry, const Key& k) { return Order{}(entry.first, k); });
    if (place != entries_.end() && !Order{}(key, place->first)) return {place, false};
    return {entries_.emplace(place, key, value), true};
  }
  iterator erase(iterator place) { return entries_.erase(place); }
  // Behind all others, where it belongs.
  void append(const Key& key, Value value) { entries_.emplace_back(key, value); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace relish

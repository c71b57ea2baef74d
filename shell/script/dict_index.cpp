// Hashes of keys and the index of a dict.
#include "shell/script/dict_index.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "shell/script/numbers.h"

namespace relish {
namespace {

// A short dict is gone through.
constexpr std::size_t most_unindexed = 8;

// Neighbours among numbers and hashes come apart in the low bits, which choose the place.
std::size_t spread(std::size_t hash) {
  hash *= 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 32);
}

// Alike for numbers that are equal: a float that is a whole number counts as an int.
std::size_t hash_of_key(const ScriptValue& key) {
  if (const std::string* text = key.string()) return std::hash<std::string>{}(*text);
  if (key.is_none()) return 0x6e6f6e65;
  if (const ScriptList* tuple = key.sequence()) {
    std::size_t hash = 0x7475706c65 + tuple->items.size();
    for (const ScriptValue& item : tuple->items) hash = hash * 0x9E3779B97F4A7C15 + hash_of_key(item);
    return hash;
  }
  if (const auto integer = integer_of(key)) return std::hash<std::int64_t>{}(*integer);
  const double real = real_of(key).value_or(0);
  if (real >= -0x1p63 && real < 0x1p63 && std::trunc(real) == real)
    return std::hash<std::int64_t>{}(static_cast<std::int64_t>(real));
  return std::hash<double>{}(real);
}

bool same_key(const ScriptValue& a, const ScriptValue& b) {
  if (a.string() && b.string()) return *a.string() == *b.string();
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (const ScriptList *left = a.sequence(), *right = b.sequence(); left && right) {
    return left->items.size() == right->items.size() &&
           std::equal(left->items.begin(), left->items.end(), right->items.begin(), same_key);
  }
  return a.is_number() && b.is_number() && compare_numbers(a, b) == 0;
}

}  // namespace

bool is_key(const ScriptValue& value) {
  if (const ScriptList* list = value.sequence())
    return list->tuple && std::all_of(list->items.begin(), list->items.end(), is_key);
  return value.string() || value.is_number() || value.is_none();
}

std::optional<std::size_t> DictIndex::find(const DictItems& items, const ScriptValue& key) const {
  if (places_.empty()) return std::nullopt;
  const std::size_t hash = spread(hash_of_key(key));
  for (std::size_t at = first_of(hash); places_[at].position != free; at = first_of(at + 1)) {
    const Place& place = places_[at];
    if (place.position != removed && place.hash == hash && same_key(items[place.position].first, key))
      return place.position;
  }
  return std::nullopt;
}

void DictIndex::grow() {
  const auto live =
      static_cast<std::size_t>(std::count_if(places_.begin(), places_.end(), [](const Place& place) {
        return place.position != free && place.position != removed;
      }));
  // Where most are removed ones, room is made without more of it.
  const std::size_t size =
      std::max<std::size_t>(16, 2 * live > places_.size() ? 2 * places_.size() : places_.size());
  held_.grow_to(size * sizeof(Place), "a dict");
  const std::vector<Place> before = std::move(places_);
  places_.assign(size, Place());
  taken_ = 0;
  for (const Place& place : before) {
    if (place.position == free || place.position == removed) continue;
    std::size_t at = first_of(place.hash);
    while (places_[at].position != free) at = first_of(at + 1);
    places_[at] = place;
    ++taken_;
  }
}

void DictIndex::add(const ScriptValue& key, std::size_t position) {
  if (4 * (taken_ + 1) > 3 * places_.size()) grow();
  const std::size_t hash = spread(hash_of_key(key));
  std::size_t at = first_of(hash);
  while (places_[at].position != free) at = first_of(at + 1);
  places_[at] = {hash, static_cast<std::uint32_t>(position)};
  ++taken_;
}

void DictIndex::remove(const ScriptValue& key, std::size_t position) {
  if (places_.empty()) return;
  const std::size_t hash = spread(hash_of_key(key));
  for (std::size_t at = first_of(hash); places_[at].position != free; at = first_of(at + 1)) {
    if (places_[at].position != position) continue;
    places_[at].position = removed;
    return;
  }
}

std::optional<std::size_t> position_in(const ScriptDict& dict, const ScriptValue& key) {
  if (!is_key(key)) return std::nullopt;
  if (!dict.index && dict.items.size() > most_unindexed) {
    auto index = std::make_shared<DictIndex>();
    for (std::size_t i = 0; i < dict.items.size(); ++i) index->add(dict.items[i].first, i);
    dict.index = std::move(index);
  }
  if (dict.index) return dict.index->find(dict.items, key);
  for (std::size_t i = 0; i < dict.items.size(); ++i)
    if (same_key(dict.items[i].first, key)) return i;
  return std::nullopt;
}

const ScriptValue* find_in(const ScriptDict& dict, const ScriptValue& key) {
  const auto at = position_in(dict, key);
  return at ? &dict.items[*at].second : nullptr;
}

void add_entry(ScriptDict& dict, ScriptValue key, ScriptValue value) {
  const std::size_t room =
      dict.items.size() == dict.items.capacity() ? std::max<std::size_t>(4, dict.items.size()) : 0;
  dict.held.grow_to(
      dict.held.bytes() + room * sizeof(dict.items.front()) + bytes_beside(key) + bytes_beside(value),
      "a dict");
  if (room > 0) dict.items.reserve(dict.items.size() + room);
  if (dict.index) {
    // The index is this dict's alone: a copy of a dict begins without.
    const_cast<DictIndex&>(*dict.index).add(key, dict.items.size());
  }
  dict.items.emplace_back(std::move(key), std::move(value));
}

void remove_entry(ScriptDict& dict, std::size_t position) {
  if (dict.index && position + 1 == dict.items.size()) {
    const_cast<DictIndex&>(*dict.index).remove(dict.items[position].first, position);
  } else {
    dict.index = nullptr;
  }
  dict.items.erase(dict.items.begin() + static_cast<std::ptrdiff_t>(position));
}

}  // namespace relish

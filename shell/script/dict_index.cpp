// Hashes of keys and the index of a dict.
#include "shell/script/dict_index.h"

#include <cmath>
#include <functional>
#include <string>

#include "shell/script/numbers.h"

namespace relish {
namespace {

// A short dict is gone through.
constexpr std::size_t most_unindexed = 8;
// What an entry of the index takes: a node and its share of the table.
constexpr std::uint64_t bytes_of_place = 5 * sizeof(void*);

// Alike for numbers that are equal: a float that is a whole number counts as an int.
std::size_t hash_of_key(const ScriptValue& key) {
  if (const std::string* text = key.string()) return std::hash<std::string>{}(*text);
  if (const auto integer = integer_of(key)) return std::hash<std::int64_t>{}(*integer);
  const double real = real_of(key).value_or(0);
  if (real >= -0x1p63 && real < 0x1p63 && std::trunc(real) == real)
    return std::hash<std::int64_t>{}(static_cast<std::int64_t>(real));
  return std::hash<double>{}(real);
}

bool same_key(const ScriptValue& a, const ScriptValue& b) {
  if (a.string() && b.string()) return *a.string() == *b.string();
  return a.is_number() && b.is_number() && compare_numbers(a, b) == 0;
}

}  // namespace

std::optional<std::size_t> DictIndex::find(const DictItems& items, const ScriptValue& key) const {
  const auto [first, last] = places_.equal_range(hash_of_key(key));
  for (auto place = first; place != last; ++place)
    if (same_key(items[place->second].first, key)) return place->second;
  return std::nullopt;
}

void DictIndex::add(const ScriptValue& key, std::size_t position) {
  held_.grow_to(held_.bytes() + bytes_of_place, "a dict");
  places_.emplace(hash_of_key(key), position);
}

const ScriptValue* find_in(const ScriptDict& dict, const ScriptValue& key) {
  if (!key.string() && !key.is_number()) return nullptr;
  if (!dict.index && dict.items.size() > most_unindexed) {
    auto index = std::make_shared<DictIndex>();
    for (std::size_t i = 0; i < dict.items.size(); ++i) index->add(dict.items[i].first, i);
    dict.index = std::move(index);
  }
  if (dict.index) {
    const auto at = dict.index->find(dict.items, key);
    return at ? &dict.items[*at].second : nullptr;
  }
  for (const auto& [name, value] : dict.items)
    if (same_key(name, key)) return &value;
  return nullptr;
}

}  // namespace relish

// Methods of lists, tuples and dicts.
#include <algorithm>

#include "shell/script/change_values.h"
#include "shell/script/convert.h"
#include "shell/script/dict_index.h"
#include "shell/script/indexing.h"
#include "shell/script/methods.h"
#include "shell/script/script.h"
#include "support/interrupt.h"

namespace relish {
namespace {

std::vector<ScriptValue> items_in(const NamedValue& iterable) {
  std::vector<ScriptValue> items;
  for_each_item(iterable.value, iterable.span, [&](const ScriptValue& item) {
    items.push_back(item);
    return true;
  });
  return items;
}

// --- Lists and tuples.

ScriptValue list_append(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  ScriptValue value = arguments.required("value").value;
  arguments.done();
  std::vector<ScriptValue> items;
  items.push_back(std::move(value));
  insert_items(self, self.sequence()->items.size(), std::move(items), undo, arguments.span());
  return {};
}

ScriptValue list_extend(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  std::vector<ScriptValue> items = items_in(arguments.required("values"));
  arguments.done();
  insert_items(self, self.sequence()->items.size(), std::move(items), undo, arguments.span());
  return {};
}

ScriptValue list_insert(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  const NamedValue& index = arguments.required("index");
  const NamedValue& value = arguments.required("value");
  arguments.done();
  // As in Python, a position beyond an end is that end.
  const auto length = static_cast<std::int64_t>(self.sequence()->items.size());
  std::int64_t at = index_of(index.value, index.span, "an index");
  at = std::clamp<std::int64_t>(at < 0 ? at + length : at, 0, length);
  insert_items(self, static_cast<std::size_t>(at), {value.value}, undo, arguments.span());
  return {};
}

ScriptValue list_pop(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  const NamedValue* index = arguments.optional("index");
  arguments.done();
  const auto length = static_cast<std::int64_t>(self.sequence()->items.size());
  if (length == 0) fail(ErrorClass::Runtime, arguments.span(), "script.empty", "pop of an empty list");
  const std::int64_t at =
      index ? item_position(index_of(index->value, index->span, "an index"), length, index->span, "list")
            : length - 1;
  return std::move(take_items(self, static_cast<std::size_t>(at), 1, undo).front());
}

std::optional<std::size_t> find_value(const ScriptList& list, const ScriptValue& value, std::size_t begin,
                                      std::size_t end, Span span) {
  for (std::size_t i = begin; i < std::min(end, list.items.size()); ++i)
    if (equal_values(list.items[i], value, span)) return i;
  return std::nullopt;
}

ScriptValue list_remove(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  const NamedValue& value = arguments.required("value");
  arguments.done();
  const auto at = find_value(*self.sequence(), value.value, 0, SIZE_MAX, value.span);
  if (!at) {
    fail(ErrorClass::Runtime, value.span, "script.no_item",
         fmt::format("remove: {} is not in the list", brief_text(value.value)));
  }
  take_items(self, *at, 1, undo);
  return {};
}

ScriptValue list_clear(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  arguments.done();
  take_items(self, 0, self.sequence()->items.size(), undo);
  return {};
}

ScriptValue list_index(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue& value = arguments.required("value");
  const NamedValue* begin = arguments.optional("start");
  const NamedValue* end = arguments.optional("stop");
  arguments.done();
  SubscriptItem::Slice slice;
  if (begin) slice.begin = index_of(begin->value, begin->span, "a bound");
  if (end) slice.end = index_of(end->value, end->span, "a bound");
  const ScriptList& list = *self.sequence();
  const SlicePositions p =
      slice_positions(slice, static_cast<std::int64_t>(list.items.size()), arguments.span());
  const auto at = find_value(list, value.value, static_cast<std::size_t>(p.begin),
                             static_cast<std::size_t>(p.begin + p.count), value.span);
  if (!at) {
    fail(ErrorClass::Runtime, value.span, "script.no_item",
         fmt::format("index: {} is not in the {}", brief_text(value.value), kind_name(self)));
  }
  return static_cast<std::int64_t>(*at);
}

ScriptValue list_count(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue& value = arguments.required("value");
  arguments.done();
  std::int64_t count = 0;
  for (const ScriptValue& item : self.sequence()->items) count += equal_values(item, value.value, value.span);
  return count;
}

ScriptValue copy_of(Script&, const ScriptValue& self, CallArguments& arguments) {
  arguments.done();
  return self;
}

constexpr ValueMethod list_table[] = {
    {"append", "xs.append(value)", nullptr, list_append},
    {"clear", "xs.clear()", nullptr, list_clear},
    {"copy", "xs.copy()", copy_of},
    {"count", "xs.count(value)", list_count},
    {"extend", "xs.extend(values)", nullptr, list_extend},
    {"index", "xs.index(value, start=0, stop=len(xs))", list_index},
    {"insert", "xs.insert(index, value)", nullptr, list_insert},
    {"pop", "xs.pop(index=-1)", nullptr, list_pop},
    {"remove", "xs.remove(value)", nullptr, list_remove},
    {"sort", "", nullptr, nullptr, "xs = sorted(xs)"},
    {"reverse", "", nullptr, nullptr, "xs = xs[::-1]"},
};

constexpr ValueMethod tuple_table[] = {
    {"count", "t.count(value)", list_count},
    {"index", "t.index(value, start=0, stop=len(t))", list_index},
};

// --- Dicts.

ScriptValue dict_get(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue& key = arguments.required("key");
  const NamedValue* fallback = arguments.optional("default");
  arguments.done();
  check_key(key.value, key.span);
  const ScriptValue* found = find_in(*self.dictionary(), key.value);
  return found ? *found : fallback ? fallback->value : ScriptValue();
}

ScriptValue dict_keys(Script&, const ScriptValue& self, CallArguments& arguments) {
  arguments.done();
  std::vector<ScriptValue> keys;
  for (const auto& [key, value] : self.dictionary()->items) keys.push_back(key);
  return ScriptValue::list(std::move(keys));
}

ScriptValue dict_values(Script&, const ScriptValue& self, CallArguments& arguments) {
  arguments.done();
  std::vector<ScriptValue> values;
  for (const auto& [key, value] : self.dictionary()->items) values.push_back(value);
  return ScriptValue::list(std::move(values));
}

ScriptValue dict_items(Script&, const ScriptValue& self, CallArguments& arguments) {
  arguments.done();
  std::vector<ScriptValue> rows;
  for (const auto& [key, value] : self.dictionary()->items) {
    poll_interrupt(arguments.span());
    rows.push_back(ScriptValue::tuple({key, value}));
  }
  return ScriptValue::list(std::move(rows));
}

ScriptValue dict_update(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  DictItems entries = entries_of(arguments);
  for (auto& [key, value] : entries) {
    poll_interrupt(arguments.span());
    set_entry(self, std::move(key), std::move(value), undo);
  }
  return {};
}

ScriptValue dict_pop(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  const NamedValue& key = arguments.required("key");
  const NamedValue* fallback = arguments.optional("default");
  arguments.done();
  check_key(key.value, key.span);
  if (const auto at = position_in(*self.dictionary(), key.value)) return take_entry(self, *at, undo);
  if (fallback) return fallback->value;
  fail(ErrorClass::Runtime, key.span, "script.key",
       fmt::format("the dict has no key {}", brief_text(key.value)));
}

ScriptValue dict_popitem(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  arguments.done();
  const std::size_t size = self.dictionary()->items.size();
  if (size == 0) fail(ErrorClass::Runtime, arguments.span(), "script.empty", "popitem of an empty dict");
  ScriptValue key = self.dictionary()->items.back().first;
  ScriptValue value = take_entry(self, size - 1, undo);
  return ScriptValue::tuple({std::move(key), std::move(value)});
}

ScriptValue dict_clear(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  arguments.done();
  while (!self.dictionary()->items.empty()) take_entry(self, self.dictionary()->items.size() - 1, undo);
  return {};
}

ScriptValue dict_setdefault(ScriptValue& self, CallArguments& arguments, Environment* undo) {
  const NamedValue& key = arguments.required("key");
  const NamedValue* fallback = arguments.optional("default");
  arguments.done();
  check_key(key.value, key.span);
  if (const ScriptValue* found = find_in(*self.dictionary(), key.value)) return *found;
  ScriptValue value = fallback ? fallback->value : ScriptValue();
  set_entry(self, key.value, value, undo);
  return value;
}

constexpr ValueMethod dict_table[] = {
    {"clear", "d.clear()", nullptr, dict_clear},
    {"copy", "d.copy()", copy_of},
    {"get", "d.get(key, default=None)", dict_get},
    {"items", "d.items()", dict_items},
    {"keys", "d.keys()", dict_keys},
    {"pop", "d.pop(key, default)", nullptr, dict_pop},
    {"popitem", "d.popitem()", nullptr, dict_popitem},
    {"setdefault", "d.setdefault(key, default=None)", nullptr, dict_setdefault},
    {"update", "d.update(entries, name=value…)", nullptr, dict_update},
    {"values", "d.values()", dict_values},
};

}  // namespace

DictItems entries_of(CallArguments& arguments) {
  std::vector<NamedValue> positional = arguments.rest();
  DictItems entries;
  if (positional.size() > 1) {
    fail(ErrorClass::Usage, positional[1].span, "call.arguments",
         fmt::format("{}: found more arguments than it takes", arguments.callee()));
  }
  if (!positional.empty() && positional[0].value.dictionary()) {
    entries = positional[0].value.dictionary()->items;
  } else if (!positional.empty()) {
    for (const ScriptValue& item : items_in(positional[0])) {
      std::vector<ScriptValue> pair;
      if (item.sequence()) pair = item.sequence()->items;
      if (pair.size() != 2) {
        fail(ErrorClass::Type, positional[0].span, "call.argument",
             fmt::format("{}: found {} among the entries; expected pairs of key and value",
                         arguments.callee(), brief_text(item)));
      }
      check_key(pair[0], positional[0].span);
      entries.emplace_back(std::move(pair[0]), std::move(pair[1]));
    }
  }
  for (NamedValue& named : arguments.rest_by_name())
    entries.emplace_back(ScriptValue(named.name), std::move(named.value));
  return entries;
}

std::span<const ValueMethod> list_methods() { return list_table; }
std::span<const ValueMethod> tuple_methods() { return tuple_table; }
std::span<const ValueMethod> dict_methods() { return dict_table; }

}  // namespace relish

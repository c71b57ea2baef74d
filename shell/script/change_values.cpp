// Items in, out and replaced, each with the way back.
#include "shell/script/change_values.h"

#include <algorithm>
#include <cstring>

#include "shell/script/convert.h"
#include "shell/script/dict_index.h"
#include "shell/script/indexing_tensors.h"
#include "shell/script/script_changes.h"
#include "support/interrupt.h"

namespace relish {
namespace {

[[noreturn]] void refuse_change(const ScriptValue& holder, Span span) {
  const bool tuple = holder.sequence() && holder.sequence()->tuple;
  const bool text = holder.string() != nullptr;
  fail(ErrorClass::Type, span, "script.item",
       fmt::format("{} has no items to assign to{}", describe(holder),
                   tuple  ? "; make a list of it, or a new tuple"
                   : text ? "; make a new one"
                          : ""));
}

const SubscriptItem& only(const std::vector<SubscriptItem>& items, const ScriptValue& holder, Span span) {
  if (items.size() != 1 || std::get_if<SubscriptItem::Rest>(&items[0].kind)) {
    fail(ErrorClass::Type, span, "script.index",
         fmt::format("{} takes one index, found {}", describe(holder), items.size()));
  }
  return items[0];
}

std::size_t position_of(const ScriptList& list, const SubscriptItem& item) {
  const auto length = static_cast<std::int64_t>(list.items.size());
  const std::int64_t index = index_of(std::get<ScriptValue>(item.kind), item.span, "an index");
  return static_cast<std::size_t>(item_position(index, length, item.span, "list"));
}

const ScriptValue& key_of(const SubscriptItem& item) {
  const auto* key = std::get_if<ScriptValue>(&item.kind);
  if (!key) fail(ErrorClass::Type, item.span, "script.index", "a dict takes a key, found a slice");
  check_key(*key, item.span);
  return *key;
}

template <class Container>
void note_levels(Container& container, std::uint32_t levels) {
  container.depth = std::max(container.depth, levels);
}

// What a value that comes and one that goes take; a list that shrinks gives its texts back.
template <class Container>
void count(Container& container, std::uint64_t more, std::uint64_t less, const char* what) {
  const std::uint64_t held = container.held.bytes();
  if (more > less) {
    container.held.grow_to(held + more - less, what);
  } else if (less > more + 4096 && held > less - more) {
    container.held = HeldMemory(held + more - less, what);
  }
}

std::vector<ScriptValue> all_items(const ScriptValue& value, Span span) {
  std::vector<ScriptValue> items;
  for_each_item(value, span, [&](const ScriptValue& item) {
    items.push_back(item);
    return true;
  });
  return items;
}

// xs[a:b] = values; with a step as many as are replaced.
void set_slice(ScriptValue& holder, const SubscriptItem& item, const ScriptValue& value, Environment* undo,
               Span span) {
  const ScriptList& list = *holder.sequence();
  const SlicePositions p = slice_positions(std::get<SubscriptItem::Slice>(item.kind),
                                           static_cast<std::int64_t>(list.items.size()), item.span);
  std::vector<ScriptValue> items = all_items(value, span);
  if (p.step != 1 && static_cast<std::int64_t>(items.size()) != p.count) {
    fail(ErrorClass::Runtime, span, "script.slice",
         fmt::format("found {} values for a slice of {} items", items.size(), p.count));
  }
  std::vector<ScriptValue> all = list.items;
  if (p.step == 1) {
    const auto begin = all.begin() + p.begin;
    const auto at = all.erase(begin, begin + p.count);
    all.insert(at, items.begin(), items.end());
  } else {
    for (std::int64_t i = 0; i < p.count; ++i)
      all[static_cast<std::size_t>(p.begin + i * p.step)] = std::move(items[static_cast<std::size_t>(i)]);
  }
  check_item_count(static_cast<std::int64_t>(all.size()), span);
  ScriptValue changed = ScriptValue::list(std::move(all));
  ScriptList& target = *holder.list_to_change();
  ScriptList& source = *changed.list_to_change();
  std::swap(target.items, source.items);
  std::swap(target.held, source.held);
  note_levels(target, source.depth);
  undo_change<ScriptList>(undo, holder, [before = std::move(source.items)](ScriptList& back) mutable {
    back.items = std::move(before);
  });
}

}  // namespace

ScriptValue& item_to_change(ScriptValue& holder, const std::vector<SubscriptItem>& items,
                            std::uint32_t levels, Span span) {
  if (auto key = key_of_several(items, holder))
    return item_to_change(holder, {std::move(*key)}, levels, span);
  if (holder.tensor()) {
    fail(ErrorClass::Type, span, "script.item",
         "found an index behind that of a tensor; expected one for all dimensions, t[i, j] = value");
  }
  if (ScriptList* list = holder.list_to_change()) {
    const SubscriptItem& item = only(items, holder, span);
    if (!std::get_if<ScriptValue>(&item.kind)) {
      fail(ErrorClass::Type, item.span, "script.item",
           "found a slice in front of what is changed; expected an index of one item");
    }
    const std::size_t at = position_of(*list, item);
    note_levels(*list, levels + 1);
    return list->items[at];
  }
  if (ScriptDict* dict = holder.dict_to_change()) {
    const SubscriptItem& item = only(items, holder, span);
    const auto at = position_in(*dict, key_of(item));
    if (!at) subscript(holder, items, span);
    note_levels(*dict, levels + 1);
    return dict->items[*at].second;
  }
  refuse_change(holder, span);
}

void set_item_of(ScriptValue& holder, const std::vector<SubscriptItem>& items, ScriptValue value,
                 Environment* undo, Span span) {
  if (auto key = key_of_several(items, holder))
    return set_item_of(holder, {std::move(*key)}, std::move(value), undo, span);
  if (holder.tensor()) {
    const bool noted = undo && undo->recording();
    Tensor before = noted ? holder.tensor()->copy() : Tensor();
    assign(*holder.tensor_to_change(), items, value, span);
    if (noted) {
      undo->undo_by([changed = *holder.tensor(), before]() mutable {
        std::memcpy(changed.mutable_data(), before.data(), static_cast<std::size_t>(before.byte_size()));
      });
    }
    return;
  }
  if (holder.dictionary()) {
    return set_entry(holder, key_of(only(items, holder, span)), std::move(value), undo);
  }
  const ScriptList* list = holder.sequence();
  if (!list || list->tuple) refuse_change(holder, span);
  const SubscriptItem& item = only(items, holder, span);
  if (std::get_if<SubscriptItem::Slice>(&item.kind)) return set_slice(holder, item, value, undo, span);
  const std::size_t at = position_of(*list, item);
  ScriptList& target = *holder.list_to_change();
  count(target, bytes_beside(value), bytes_beside(target.items[at]), "a list");
  note_levels(target, nesting_of(value) + 1);
  std::swap(target.items[at], value);
  undo_change<ScriptList>(undo, holder, [at, before = std::move(value)](ScriptList& back) mutable {
    back.items[at] = std::move(before);
  });
}

void remove_item_of(ScriptValue& holder, const std::vector<SubscriptItem>& items, Environment* undo,
                    Span span) {
  if (auto key = key_of_several(items, holder)) return remove_item_of(holder, {std::move(*key)}, undo, span);
  if (holder.dictionary()) {
    const auto at = position_in(*holder.dictionary(), key_of(only(items, holder, span)));
    if (!at) subscript(holder, items, span);
    take_entry(holder, *at, undo);
    return;
  }
  const ScriptList* list = holder.sequence();
  if (!list || list->tuple) refuse_change(holder, span);
  const SubscriptItem& item = only(items, holder, span);
  if (!std::get_if<SubscriptItem::Slice>(&item.kind)) {
    take_items(holder, position_of(*list, item), 1, undo);
    return;
  }
  const SlicePositions p = slice_positions(std::get<SubscriptItem::Slice>(item.kind),
                                           static_cast<std::int64_t>(list->items.size()), item.span);
  if (p.step == 1) {
    take_items(holder, static_cast<std::size_t>(p.begin), static_cast<std::size_t>(p.count), undo);
    return;
  }
  // From the last to the first, so that positions stay right.
  for (std::int64_t i = 0; i < p.count; ++i) {
    const std::int64_t nth = p.step > 0 ? p.count - 1 - i : i;
    take_items(holder, static_cast<std::size_t>(p.begin + nth * p.step), 1, undo);
  }
}

bool grow_in_place(ScriptValue& value, const ScriptValue& operand, Span span) {
  const auto size = [](const ScriptValue& part) {
    return part.string() ? part.string()->size() : part.sequence() ? part.sequence()->items.size() : 0;
  };
  // A list takes whatever can be gone through, as in Python.
  if (value.sequence() && !value.sequence()->tuple && !(operand.sequence() && !operand.sequence()->tuple)) {
    if (operand.tensor() || operand.is_number() || operand.is_none()) return false;
    return grow_in_place(value, ScriptValue::list(all_items(operand, span)), span);
  }
  check_item_count(static_cast<std::int64_t>(size(value) + size(operand)), span);
  if (value.sequence() && !value.sequence()->tuple) value.list_to_change();
  return value.append_in_place(operand);
}

void set_entry(ScriptValue& holder, ScriptValue key, ScriptValue value, Environment* undo) {
  const auto at = position_in(*holder.dictionary(), key);
  ScriptDict& dict = *holder.dict_to_change();
  note_levels(dict, nesting_of(value) + 1);
  if (!at) {
    add_entry(dict, std::move(key), std::move(value));
    undo_change<ScriptDict>(undo, holder,
                            [](ScriptDict& back) { remove_entry(back, back.items.size() - 1); });
    return;
  }
  count(dict, bytes_beside(value), bytes_beside(dict.items[*at].second), "a dict");
  std::swap(dict.items[*at].second, value);
  undo_change<ScriptDict>(undo, holder, [at = *at, before = std::move(value)](ScriptDict& back) mutable {
    back.items[at].second = std::move(before);
  });
}

ScriptValue take_entry(ScriptValue& holder, std::size_t position, Environment* undo) {
  ScriptDict& dict = *holder.dict_to_change();
  auto entry = std::move(dict.items[position]);
  // The place is found by the key, so it stays until the entry is gone.
  dict.items[position].first = entry.first;
  remove_entry(dict, position);
  undo_change<ScriptDict>(undo, holder, [position, entry](ScriptDict& back) {
    back.index = nullptr;
    back.items.insert(back.items.begin() + static_cast<std::ptrdiff_t>(position), entry);
  });
  return std::move(entry.second);
}

void insert_items(ScriptValue& holder, std::size_t position, std::vector<ScriptValue> items,
                  Environment* undo, Span span) {
  check_item_count(static_cast<std::int64_t>(holder.sequence()->items.size() + items.size()), span);
  std::uint32_t levels = 0;
  std::uint64_t more = 0;
  for (const ScriptValue& item : items) {
    levels = std::max(levels, nesting_of(item));
    more += bytes_beside(item);
  }
  ScriptList& list = *holder.list_to_change();
  const std::size_t wanted = list.items.size() + items.size();
  const std::size_t room = wanted > list.items.capacity() ? std::max(wanted, 2 * list.items.size()) : 0;
  if (room > 0) more += (room - list.items.capacity()) * sizeof(ScriptValue);
  count(list, more, 0, "a list");
  if (room > 0) list.items.reserve(room);
  note_levels(list, levels + 1);
  const std::size_t added = items.size();
  list.items.insert(list.items.begin() + static_cast<std::ptrdiff_t>(position),
                    std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
  undo_change<ScriptList>(undo, holder, [position, added](ScriptList& back) {
    const auto begin = back.items.begin() + static_cast<std::ptrdiff_t>(position);
    back.items.erase(begin, begin + static_cast<std::ptrdiff_t>(added));
  });
}

std::vector<ScriptValue> take_items(ScriptValue& holder, std::size_t position, std::size_t number,
                                    Environment* undo) {
  ScriptList& list = *holder.list_to_change();
  const auto begin = list.items.begin() + static_cast<std::ptrdiff_t>(position);
  const auto end = begin + static_cast<std::ptrdiff_t>(number);
  std::vector<ScriptValue> taken(std::make_move_iterator(begin), std::make_move_iterator(end));
  list.items.erase(begin, end);
  std::uint64_t less = 0;
  for (const ScriptValue& item : taken) less += bytes_beside(item);
  count(list, 0, less, "a list");
  if (undo && undo->recording()) {
    undo_change<ScriptList>(undo, holder, [position, taken](ScriptList& back) {
      back.items.insert(back.items.begin() + static_cast<std::ptrdiff_t>(position), taken.begin(),
                        taken.end());
    });
  }
  return taken;
}

}  // namespace relish

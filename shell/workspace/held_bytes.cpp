// Counting of bytes.
#include "shell/workspace/held_bytes.h"

#include "shell/script/script_function.h"
#include "shell/script/unread_value.h"

namespace relish {

std::uint64_t HeldBytes::add(const ScriptValue& held) {
  const ScriptValue& value = known_value(held);
  const std::uint64_t before = bytes_;
  if (const Tensor* tensor = value.tensor()) {
    if (seen_.insert(tensor->data())) bytes_ += static_cast<std::uint64_t>(tensor->byte_size());
  } else if (const ScriptList* list = value.sequence()) {
    if (!seen_.insert(list)) return 0;
    bytes_ += list->items.size() * sizeof(ScriptValue);
    for (const ScriptValue& item : list->items)
      if (!item.as<std::int64_t>() && !item.as<double>()) add(item);  // there may be millions
  } else if (const ScriptDict* dict = value.dictionary()) {
    if (!seen_.insert(dict)) return 0;
    bytes_ += dict->items.size() * sizeof(dict->items.front());
    for (const auto& [key, item] : dict->items) {
      add(key);
      add(item);
    }
  } else if (const ScriptFunction* function = value.script_function()) {
    if (!seen_.insert(function)) return 0;
    for (const ScriptValue& item : function->defaults) add(item);
    for (const CellPtr& cell : function->captured)
      if (seen_.insert(cell.get())) captured_.push_back(&cell->value);
    add(function->self);
  } else if (const std::string* text = value.string()) {
    bytes_ += text->size();
  }
  // Chains of functions are as long as they like, so they are followed one after the other.
  if (following_) return bytes_ - before;
  following_ = true;
  while (!captured_.empty()) {
    const ScriptValue* next = captured_.back();
    captured_.pop_back();
    add(*next);
  }
  following_ = false;
  return bytes_ - before;
}

std::uint64_t HeldBytes::add(const NameMap& names) {
  const std::uint64_t before = bytes_;
  names.for_each_unseen(seen_, [&](const ScriptValue& value) { add(value); });
  return bytes_ - before;
}

void HeldBytes::forget_since(const Mark& mark) {
  while (seen_.order.size() > mark.seen) {
    seen_.places.erase(seen_.order.back());
    seen_.order.pop_back();
  }
  bytes_ = mark.bytes;
}

std::uint64_t held_bytes(const ScriptValue& value) { return HeldBytes().add(value); }

}  // namespace relish

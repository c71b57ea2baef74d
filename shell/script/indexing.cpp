// Indexing: sequences and strings as Python has them, tensors by copies of the chosen elements.
#include "shell/script/indexing.h"

#include <algorithm>

#include "shell/script/convert.h"
#include "shell/script/dict_index.h"
#include "shell/script/indexing_tensors.h"
#include "shell/script/numbers.h"
#include "support/choices.h"
#include "support/counted.h"
#include "support/interrupt.h"

namespace relish {
SlicePositions slice_positions(const SubscriptItem::Slice& slice, std::int64_t length, Span span) {
  SlicePositions result;
  result.step = slice.step.value_or(1);
  if (result.step == 0) fail(ErrorClass::Runtime, span, "script.slice", "a slice's step is 0");
  bool forward = result.step > 0;
  std::int64_t low = forward ? 0 : -1;
  std::int64_t high = forward ? length : length - 1;
  auto clamp = [&](std::optional<std::int64_t> given, std::int64_t fallback) {
    if (!given) return fallback;
    std::int64_t at = *given < 0 ? *given + length : *given;
    return at < low ? low : at > high ? high : at;
  };
  std::int64_t begin = clamp(slice.begin, forward ? 0 : length - 1);
  std::int64_t end = clamp(slice.end, forward ? length : -1);
  result.begin = begin;
  result.end = end;
  result.count = ScriptRange{begin, end, result.step}.size();
  return result;
}

std::int64_t item_position(std::int64_t index, std::int64_t length, Span span, std::string_view what) {
  std::int64_t at = index < 0 ? index + length : index;
  if (at < 0 || at >= length) {
    fail(ErrorClass::Runtime, span, "script.index_range",
         fmt::format("index {} is out of range for {} of length {}", index, what, length));
  }
  return at;
}

void check_key(const ScriptValue& key, Span span) {
  if (is_key(key)) return;
  fail(ErrorClass::Type, span, "script.dict",
       fmt::format("{} is no key of a dict; expected a str, a number, a bool, None or a tuple of these{}",
                   describe(key),
                   key.tensor() && key.tensor()->size() == 1 ? "; t.item() is its number"
                   : key.as<ShapeValue>()                    ? "; tuple(x.shape) is one"
                                                             : ""));
}

std::optional<SubscriptItem> key_of_several(const std::vector<SubscriptItem>& items,
                                            const ScriptValue& object) {
  if (items.size() < 2 || !object.dictionary()) return std::nullopt;
  std::vector<ScriptValue> key;
  for (const SubscriptItem& item : items) {
    const auto* value = std::get_if<ScriptValue>(&item.kind);
    if (!value) return std::nullopt;
    key.push_back(*value);
  }
  return SubscriptItem{ScriptValue::tuple(std::move(key)), cover(items.front().span, items.back().span)};
}

namespace {

const SubscriptItem& only_item(const std::vector<SubscriptItem>& items, const ScriptValue& object,
                               Span span) {
  if (items.size() != 1) {
    fail(ErrorClass::Type, span, "script.index",
         fmt::format("{} takes one index, found {}", describe(object), items.size()));
  }
  if (std::get_if<SubscriptItem::Rest>(&items.front().kind))
    fail(ErrorClass::Type, items.front().span, "script.index", "found '...', which is an index of tensors");
  return items.front();
}

ScriptValue index_sequence(const ScriptValue& object, const ScriptList& list, const SubscriptItem& item) {
  auto length = static_cast<std::int64_t>(list.items.size());
  if (const auto* slice = std::get_if<SubscriptItem::Slice>(&item.kind)) {
    SlicePositions positions = slice_positions(*slice, length, item.span);
    std::vector<ScriptValue> taken;
    for (std::int64_t i = 0; i < positions.count; ++i) {
      poll_interrupt(item.span);
      taken.push_back(list.items[static_cast<std::size_t>(positions.begin + i * positions.step)]);
    }
    return list.tuple ? ScriptValue::tuple(std::move(taken)) : ScriptValue::list(std::move(taken));
  }
  const ScriptValue& given = std::get<ScriptValue>(item.kind);
  const bool tensors = list.tuple && !list.items.empty() &&
                       std::all_of(list.items.begin(), list.items.end(),
                                   [](const ScriptValue& each) { return each.tensor() != nullptr; });
  if (given.string() && tensors) {
    fail(ErrorClass::Type, item.span, "script.index",
         "found a str as an index of a tuple; expected an int (initial_params of setup_trainer(…, init=…, "
         "named=True) gives parameters by name)");
  }
  std::int64_t index = index_of(given, item.span, "an index");
  return list.items[static_cast<std::size_t>(item_position(index, length, item.span, kind_name(object)))];
}

// Byte offsets of the code points, with the end.
std::vector<std::size_t> code_point_starts(const std::string& text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

ScriptValue index_string(const std::string& text, const SubscriptItem& item) {
  std::vector<std::size_t> starts = code_point_starts(text);
  auto length = static_cast<std::int64_t>(starts.size()) - 1;
  auto one = [&](std::int64_t at) {
    auto i = static_cast<std::size_t>(at);
    return text.substr(starts[i], starts[i + 1] - starts[i]);
  };
  if (const auto* slice = std::get_if<SubscriptItem::Slice>(&item.kind)) {
    SlicePositions positions = slice_positions(*slice, length, item.span);
    std::string taken;
    for (std::int64_t i = 0; i < positions.count; ++i) taken += one(positions.begin + i * positions.step);
    return taken;
  }
  return one(item_position(index_of(std::get<ScriptValue>(item.kind), item.span, "an index"), length,
                           item.span, "str"));
}

ScriptValue index_dict(const ScriptDict& dict, const SubscriptItem& item) {
  const auto* key = std::get_if<ScriptValue>(&item.kind);
  if (!key) fail(ErrorClass::Type, item.span, "script.index", "a dict takes a key, found a slice");
  check_key(*key, item.span);
  if (const ScriptValue* value = find_in(dict, *key)) return *value;
  std::vector<std::string> names;
  for (const auto& [each, value] : dict.items)
    if (each.string()) names.push_back(*each.string());
  const std::string* name = key->string();
  fail(ErrorClass::Runtime, item.span, "script.key",
       fmt::format("the dict has no key {}{}", brief_text(*key),
                   name || names.size() == dict.items.size() ? among_choices(name ? *name : "", names) : ""));
}

ScriptValue index_range(const ScriptRange& range, const SubscriptItem& item) {
  if (const auto* slice = std::get_if<SubscriptItem::Slice>(&item.kind)) {
    SlicePositions positions = slice_positions(*slice, range.size(), item.span);
    // As Python's: bounds become those of the range, and steps multiply.
    const auto bound = [&](std::int64_t position) {
      return checked_add(range.begin, checked_multiply(position, range.step, item.span), item.span);
    };
    return ScriptRange{bound(positions.begin), bound(positions.end),
                       checked_multiply(range.step, positions.step, item.span)};
  }
  std::int64_t index = index_of(std::get<ScriptValue>(item.kind), item.span, "an index");
  return range.at(item_position(index, range.size(), item.span, "range"));
}

}  // namespace

ScriptValue subscript(const ScriptValue& object, const std::vector<SubscriptItem>& items, Span span) {
  if (const Tensor* tensor = object.tensor()) return select(*tensor, items, span);
  if (const auto key = key_of_several(items, object)) return index_dict(*object.dictionary(), *key);
  const SubscriptItem& item = only_item(items, object, span);
  if (const ScriptList* list = object.sequence()) return index_sequence(object, *list, item);
  if (const ScriptDict* dict = object.dictionary()) return index_dict(*dict, item);
  if (const std::string* text = object.string()) return index_string(*text, item);
  if (const auto* range = object.as<ScriptRange>()) return index_range(*range, item);
  if (const auto* shape = object.as<ShapeValue>()) {
    std::vector<ScriptValue> dims(shape->dims.begin(), shape->dims.end());
    return index_sequence(object, ScriptList{std::move(dims), true}, item);
  }
  // As TVM has the functions of a module.
  const auto* module = object.as<ModulePtr>();
  const auto* key = module ? std::get_if<ScriptValue>(&item.kind) : nullptr;
  const std::string* name = key ? key->string() : nullptr;
  fail(ErrorClass::Type, span, "script.index",
       fmt::format("{} has no items{}", describe(object),
                   name && (*module)->find(*name)
                       ? fmt::format("; its function is {}.{}", (*module)->name, *name)
                       : ""));
}

}  // namespace relish
